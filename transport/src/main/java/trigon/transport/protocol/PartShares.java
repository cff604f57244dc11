package trigon.transport.protocol;

import java.util.Arrays;

/**
 * Shares of a message, by path: contiguous parts, in the paths' order, that end at multiples of {@value #LINE} bytes,
 * so that no line of LL128 is on two paths.
 *
 * <p>At first in the proportion of the links' stated speeds, then of what each was seen to carry while it had something
 * to carry. Speeds that are stated wrong, or links that others use too, would else make the slowest path the speed of
 * all. What differs from the proportion in use by less than an eighth is taken for noise.
 *
 * <p>Allocated once; used by the thread that makes the session's data-path calls.
 */
final class PartShares {

    /** Parts end at multiples of this. */
    static final int LINE = 128;

    /** The smallest share: what a path carries is what is known of it. */
    static final double MIN = 1.0 / 64;

    /** For how long, and over how many messages, is measured before shares change. */
    static final long WINDOW_NANOS = 25_000_000;

    static final int WINDOW_MESSAGES = 4;

    private static final double NOISE = 1.0 / 8;
    private static final int SHIFT = 24;

    private final double[] shares;
    private final double[] measured;
    // where each path's part ends, in parts of 1 << SHIFT
    private final long[] ends;

    private final long[] bytes;
    private final long[] busyNanos;
    private final long[] busySince;
    private final int[] outstanding;
    private boolean measuring;
    private long windowStart;
    private int messages;

    /** In the proportion of these speeds, each 1 or more. */
    PartShares(int... speeds) {
        shares = Arrays.stream(speeds).asDoubleStream().toArray();
        measured = new double[speeds.length];
        ends = new long[speeds.length];
        bytes = new long[speeds.length];
        busyNanos = new long[speeds.length];
        busySince = new long[speeds.length];
        outstanding = new int[speeds.length];
        normalize(shares);
        setEnds();
    }

    /**
     * Returns where a path's part of a message ends; the next one's begins there, and the last one's is the message's
     * end.
     */
    int end(int path, int size) {
        return path == ends.length - 1 ? size : (int) (((long) (size / LINE) * ends[path]) >>> SHIFT) * LINE;
    }

    /** A path's share, for logs and tests. */
    double share(int path) {
        return shares[path];
    }

    /** A path's part was handed to the device. */
    void posted(int path, long nowNanos) {
        if (outstanding[path]++ == 0) {
            busySince[path] = nowNanos;
        }
    }

    /** A path's part has arrived. */
    void arrived(int path, int partBytes, long nowNanos) {
        outstanding[path]--;
        busyNanos[path] += nowNanos - busySince[path];
        busySince[path] = nowNanos;
        bytes[path] += partBytes;
    }

    /** All parts of a message have arrived: now and then, the shares change. */
    void completed(long nowNanos) {
        if (!measuring) {
            measuring = true;
            windowStart = nowNanos;
        }
        messages++;
        if (messages >= WINDOW_MESSAGES && nowNanos - windowStart >= WINDOW_NANOS) {
            adapt();
            messages = 0;
            windowStart = nowNanos;
            for (int path = 0; path < ends.length; path++) {
                bytes[path] = 0;
                busyNanos[path] = 0;
            }
        }
    }

    private void adapt() {
        for (int path = 0; path < ends.length; path++) {
            if (bytes[path] == 0 || busyNanos[path] <= 0) {
                return;
            }
            measured[path] = (double) bytes[path] / busyNanos[path];
        }
        normalize(measured);
        boolean differs = false;
        for (int path = 0; path < ends.length; path++) {
            differs |= Math.abs(measured[path] - shares[path]) > NOISE * shares[path];
        }
        if (differs) {
            for (int path = 0; path < ends.length; path++) {
                shares[path] = (shares[path] + measured[path]) / 2;
            }
            setEnds();
        }
    }

    /** Makes the sum 1, and none less than the least, or nearly. */
    private static void normalize(double[] values) {
        double sum = 0;
        for (double value : values) {
            sum += value;
        }
        double raised = 0;
        for (int i = 0; i < values.length; i++) {
            values[i] = Math.max(values[i] / sum, MIN);
            raised += values[i];
        }
        for (int i = 0; i < values.length; i++) {
            values[i] /= raised;
        }
    }

    private void setEnds() {
        double sum = 0;
        for (int path = 0; path < ends.length; path++) {
            sum += shares[path];
            ends[path] = Math.min(1L << SHIFT, (long) (sum * (1L << SHIFT)));
        }
    }
}
