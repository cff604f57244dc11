package trigon.transport;

import java.util.Arrays;

/**
 * Which part of a message each stripe carries: contiguous parts, in the stripes' order, that end at multiples of
 * {@value #LINE} bytes, so that no line of LL128 is on two stripes.
 *
 * <p>At first in the proportion of the links' stated speeds, then of what each was seen to carry while it had something to
 * carry. Speeds that are stated wrong, or links that others use too, would else make the slowest stripe the speed of all.
 * What differs from the proportion in use by less than an eighth is taken for noise.
 *
 * <p>Allocated once; used by the thread that makes the comm's data-path calls.
 */
final class StripeShares {

    /** Parts end at multiples of this. */
    static final int LINE = 128;

    /** The smallest share: what a stripe carries is what is known of it. */
    static final double LEAST = 1.0 / 64;

    /** For how long, and over how many messages, is measured before shares change. */
    static final long WINDOW_NANOS = 25_000_000;

    static final int WINDOW_MESSAGES = 4;

    private static final double NOISE = 1.0 / 8;
    private static final int SHIFT = 24;

    private final double[] shares;
    private final double[] measured;
    // where each stripe's part ends, in parts of 1 << SHIFT
    private final long[] ends;

    private final long[] bytes;
    private final long[] busyNanos;
    private final long[] busySince;
    private final int[] outstanding;
    private boolean measuring;
    private long windowStart;
    private int messages;

    /** In the proportion of these speeds, each 1 or more. */
    StripeShares(int... speeds) {
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

    /** Where a stripe's part of a message ends; the next one's begins there, and the last one's is the message's end. */
    int end(int stripe, int size) {
        return stripe == ends.length - 1 ? size : (int) (((long) (size / LINE) * ends[stripe]) >>> SHIFT) * LINE;
    }

    /** A stripe's share, for logs and tests. */
    double share(int stripe) {
        return shares[stripe];
    }

    /** A stripe's part was handed to the device. */
    void posted(int stripe, long nowNanos) {
        if (outstanding[stripe]++ == 0) {
            busySince[stripe] = nowNanos;
        }
    }

    /** A stripe's part has arrived. */
    void arrived(int stripe, int partBytes, long nowNanos) {
        outstanding[stripe]--;
        busyNanos[stripe] += nowNanos - busySince[stripe];
        busySince[stripe] = nowNanos;
        bytes[stripe] += partBytes;
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
            for (int stripe = 0; stripe < ends.length; stripe++) {
                bytes[stripe] = 0;
                busyNanos[stripe] = 0;
            }
        }
    }

    private void adapt() {
        for (int stripe = 0; stripe < ends.length; stripe++) {
            if (bytes[stripe] == 0 || busyNanos[stripe] <= 0) {
                return;
            }
            measured[stripe] = (double) bytes[stripe] / busyNanos[stripe];
        }
        normalize(measured);
        boolean differs = false;
        for (int stripe = 0; stripe < ends.length; stripe++) {
            differs |= Math.abs(measured[stripe] - shares[stripe]) > NOISE * shares[stripe];
        }
        if (differs) {
            for (int stripe = 0; stripe < ends.length; stripe++) {
                shares[stripe] = (shares[stripe] + measured[stripe]) / 2;
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
            values[i] = Math.max(values[i] / sum, LEAST);
            raised += values[i];
        }
        for (int i = 0; i < values.length; i++) {
            values[i] /= raised;
        }
    }

    private void setEnds() {
        double sum = 0;
        for (int stripe = 0; stripe < ends.length; stripe++) {
            sum += shares[stripe];
            ends[stripe] = Math.min(1L << SHIFT, (long) (sum * (1L << SHIFT)));
        }
    }
}
