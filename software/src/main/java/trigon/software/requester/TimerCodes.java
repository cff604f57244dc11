package trigon.software.requester;

import java.util.concurrent.TimeUnit;

/**
 * The meaning of the time codes of ibv_modify_qp(3).
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_modify_qp.3.html">ibv_modify_qp(3)</a>
 */
final class TimerCodes {

    /** {@code rnr_retry} that means "without end". */
    static final int RNR_RETRY_FOR_EVER = 7;

    /** Threads and TCP need this much; an adapter too takes a multiple of what a small code says. */
    private static final long MIN_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private static final long TIMEOUT_UNIT_NANOS = 4096;
    private static final long RNR_UNIT_NANOS = TimeUnit.MICROSECONDS.toNanos(10);
    private static final long LONGEST_RNR_UNITS = 65536;

    private TimerCodes() {}

    /** After how long without progress a request fails: 4.096 us * 2^timeout per try; 0 for never. */
    static long retryNanos(int timeout, int retryCount) {
        return timeout == 0 ? 0 : Math.max(MIN_RETRY_NANOS, (TIMEOUT_UNIT_NANOS << timeout) * (retryCount + 1));
    }

    /**
     * The delay that a {@code min_rnr_timer} code stands for: 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12 ms and so on.
     */
    static long rnrNanos(int code) {
        if (code == 0) {
            return LONGEST_RNR_UNITS * RNR_UNIT_NANOS;
        }
        long units = code == 1 ? 1 : code % 2 == 0 ? 1L << (code / 2) : 3L << ((code - 3) / 2);
        return units * RNR_UNIT_NANOS;
    }
}
