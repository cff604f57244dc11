package trigon.routing;

/**
 * The bandwidth of a path, as far as paths are compared by it: its slowest link's rate, in steps of a factor of 1.4. So
 * a little that PCIe or a driver takes away does not count, and both ends of a cable come to the same.
 *
 * @param step 0 for a last resort, 1 for a rate that is not known, then from 100 Mbit/s on; 31 where nobody has said
 */
public record Bandwidth(int step) implements Comparable<Bandwidth> {

    /** The bandwidth of a peer that has not said it: its end is taken to be as fast as this one. */
    public static final Bandwidth NOT_TOLD = new Bandwidth(31);

    private static final int FIRST = 2;
    private static final int MAX = 30;
    private static final double FIRST_MBPS = 100;

    /** Steps for each doubling. */
    private static final int STEPS = 2;

    public Bandwidth {
        if (step < 0 || step > 31) {
            throw new IllegalArgumentException("step " + step + " is not in 0..31");
        }
    }

    /**
     * The bandwidth of a link that counts so many Mbit/s: 0 is a last resort, and 1 is not known; see {@link LinkUse}.
     */
    public static Bandwidth of(int countedMbps) {
        if (countedMbps <= LinkUse.UNKNOWN_MBPS) {
            return new Bandwidth(Math.max(0, countedMbps));
        }
        double doublings = Math.log(countedMbps / FIRST_MBPS) / Math.log(2);
        return new Bandwidth(Math.clamp(FIRST + Math.round(STEPS * doublings), FIRST, MAX));
    }

    /**
     * The bandwidth of a route whose slowest link counts so many Mbit/s: each relay passes on by one link what comes by
     * another.
     */
    public static Bandwidth ofRelayed(int countedMbps, int relays) {
        return of(
                countedMbps <= LinkUse.UNKNOWN_MBPS
                        ? countedMbps
                        : Math.max(LinkUse.UNKNOWN_MBPS + 1, countedMbps / (relays + 1)));
    }

    /** The less of both. */
    public Bandwidth and(Bandwidth other) {
        return compareTo(other) <= 0 ? this : other;
    }

    /** Returns whether this is more. */
    public boolean exceeds(Bandwidth other) {
        return compareTo(other) > 0;
    }

    @Override
    public int compareTo(Bandwidth other) {
        return Integer.compare(step, other.step);
    }

    /** For people: {@code last resort}, {@code unknown}, or about how much, such as {@code 10 Gb/s}. */
    @Override
    public String toString() {
        return switch (step) {
            case 0 -> "last resort";
            case 1 -> "unknown";
            case 31 -> "not told";
            default -> {
                double mbps = FIRST_MBPS * Math.pow(2, (step - FIRST) / (double) STEPS);
                yield mbps < 1000 ? "%.0f Mb/s".formatted(mbps) : "%.1f Gb/s".formatted(mbps / 1000);
            }
        };
    }
}
