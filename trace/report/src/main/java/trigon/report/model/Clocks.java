package trigon.report.model;

import java.util.Arrays;

/**
 * The clocks of the machines on the first one's, window by window: a message cannot come before it was sent. So each
 * message from one machine to another says how far the second clock can be ahead at most; messages the other way, also
 * over third machines, say how far at least. The middle is taken, and half the distance is the bound of the error.
 */
public final class Clocks {

    /** Nanoseconds of a window at least: clocks drift by some ten microseconds a second. */
    static final long MIN_WINDOW = 1_000_000_000L;

    /** Windows at most, and bounds between two machines in all of them: longer runs have longer windows. */
    private static final int MAX_WINDOWS = 100_000;

    private static final int MAX_BOUNDS = 1 << 22;

    private static final long UNKNOWN = Long.MAX_VALUE / 4;

    private final int machines;
    private final long[] rough;
    private final long begin;
    private final long width;
    private final long[][][] most;
    private final long[][] offsets;
    private final long[][] bounds;

    /**
     * Clocks without messages.
     *
     * @param rough for each machine, how far its clock is ahead of the first one's by their times of day
     * @param begin the least time there is, on the first machine's clock
     * @param end the greatest
     */
    Clocks(long[] rough, long begin, long end) {
        machines = rough.length;
        this.rough = rough.clone();
        this.begin = begin;
        long span = Math.max(0, end - begin);
        int windowsAtMost = Math.clamp(MAX_BOUNDS / ((long) machines * machines), 1, MAX_WINDOWS);
        width = Math.max(MIN_WINDOW, span / windowsAtMost + 1);
        int windows = (int) (span / width + 1);
        most = new long[windows][machines][machines];
        for (long[][] window : most) {
            for (long[] row : window) {
                Arrays.fill(row, UNKNOWN);
            }
        }
        offsets = new long[windows][machines];
        bounds = new long[windows][machines];
    }

    /** Something that was later than something else on another machine, by their own clocks. */
    void happenedAfter(int earlierMachine, long earlier, int laterMachine, long later) {
        if (earlierMachine != laterMachine) {
            long[][] window = most[window(earlier - rough[earlierMachine])];
            window[earlierMachine][laterMachine] = Math.min(window[earlierMachine][laterMachine], later - earlier);
        }
    }

    private int window(long time) {
        return Math.clamp((time - begin) / width, 0, most.length - 1);
    }

    /** To be called once, when all is known. */
    void solve() {
        for (int window = 0; window < most.length; window++) {
            solve(window);
        }
        for (int machine = 1; machine < machines; machine++) {
            fillGaps(machine);
        }
    }

    private void solve(int window) {
        long[][] known = most[window];
        for (int over = 0; over < machines; over++) {
            for (int from = 0; from < machines; from++) {
                for (int to = 0; to < machines; to++) {
                    if (known[from][over] != UNKNOWN && known[over][to] != UNKNOWN) {
                        known[from][to] = Math.min(known[from][to], known[from][over] + known[over][to]);
                    }
                }
            }
        }
        for (int machine = 1; machine < machines; machine++) {
            long ahead = known[0][machine];
            long behind = known[machine][0];
            if (ahead == UNKNOWN || behind == UNKNOWN) {
                bounds[window][machine] = UNKNOWN;
                offsets[window][machine] =
                        Math.max(Math.min(rough[machine], ahead), behind == UNKNOWN ? Long.MIN_VALUE : -behind);
            } else {
                offsets[window][machine] = (ahead - behind) / 2;
                bounds[window][machine] = Math.max(0, (ahead + behind) / 2);
            }
        }
    }

    /** A window without messages both ways takes the nearest one's, which has drifted since. */
    private void fillGaps(int machine) {
        int[] next = nextKnown(machine);
        int before = -1;
        for (int window = 0; window < most.length; window++) {
            int after = next[window];
            if (after == window) {
                before = window;
            } else if (before >= 0 || after < most.length) {
                boolean earlier = before >= 0 && (after == most.length || window - before <= after - window);
                offsets[window][machine] = offsets[earlier ? before : after][machine];
            }
        }
    }

    /** For each window the first one from it on that has messages both ways, or the number of windows. */
    private int[] nextKnown(int machine) {
        int[] next = new int[most.length];
        int known = most.length;
        for (int window = most.length - 1; window >= 0; window--) {
            known = bounds[window][machine] == UNKNOWN ? known : window;
            next[window] = known;
        }
        return next;
    }

    /** A machine's time on the first one's clock. Between the middles of two windows, between their offsets. */
    long onFirst(int machine, long time) {
        if (machine == 0) {
            return time;
        }
        long position = time - rough[machine] - begin - width / 2;
        int before = Math.clamp(Math.floorDiv(position, width), 0, most.length - 1);
        int after = Math.min(before + 1, most.length - 1);
        double part = Math.clamp((position - before * width) / (double) width, 0, 1);
        double offset = offsets[before][machine] + part * (offsets[after][machine] - offsets[before][machine]);
        return time - Math.round(offset);
    }

    /** Nanoseconds that a machine's clock is ahead of the first one's, in the window that bounds it best. */
    public long ahead(int machine) {
        int best = 0;
        for (int window = 0; window < most.length; window++) {
            best = bounds[window][machine] < bounds[best][machine] ? window : best;
        }
        return offsets[best][machine];
    }

    /**
     * Bound of the error between times of two machines, in nanoseconds, in the best window; 0: they share a clock. Less
     * than 0: nothing bounds it, since messages went one way only; the times of day were taken.
     */
    public long bound(int machine, int other) {
        if (machine == other) {
            return 0;
        }
        long least = UNKNOWN;
        for (long[] window : bounds) {
            long first = machine == 0 ? 0 : window[machine];
            long second = other == 0 ? 0 : window[other];
            if (first != UNKNOWN && second != UNKNOWN) {
                least = Math.min(least, first + second);
            }
        }
        return least == UNKNOWN ? -1 : least;
    }
}
