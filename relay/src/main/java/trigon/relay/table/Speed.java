package trigon.relay.table;

/** Speeds of the steps of bandwidth, as whole numbers without a unit: a table compares them alone. */
final class Speed {

    private static final int MAX_STEP = 30;

    /** Less than the slowest rate that is known, over all hops that a route may have. */
    private static final int UNKNOWN = 256;

    private static final int LAST_RESORT = 15;

    /** 100 Mbit/s, in units of 1/64 Mbit/s; and the step above. */
    private static final long EVEN = 6400;

    private static final long ODD = 9051;

    /** Bound on the weight of a cable, so that sums over a route stay within a long. */
    private static final long MAX_WEIGHT = 1 << 24;

    private Speed() {}

    /** The speed of a step: any that is known is more over a whole route than one that is not. */
    static long of(int step) {
        return switch (step) {
            case 0 -> LAST_RESORT;
            case 1 -> UNKNOWN;
            default -> (step % 2 == 0 ? EVEN : ODD) << ((step - 2) / 2);
        };
    }

    /** The weight of a unit on a cable of that step: twice as much where it is half as fast. */
    static long weight(int step) {
        return Math.min(MAX_WEIGHT, 256 * of(MAX_STEP) / of(step));
    }
}
