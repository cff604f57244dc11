package trigon.relay;

import java.util.concurrent.TimeUnit;

/**
 * The rate of what is passed on: bytes go first, and the time that they cost is waited for afterwards. Time in
 * which nothing was owed is not saved up. One thread.
 */
final class Allowance {

    private static final double NANOS = TimeUnit.SECONDS.toNanos(1);

    private final long bytesPerSecond;
    private double owed; // bytes

    /** None is owed; 0 bytes per second is no limit. */
    Allowance(long bytesPerSecond) {
        this.bytesPerSecond = bytesPerSecond;
    }

    void spent(long bytes) {
        if (bytesPerSecond > 0) {
            owed += bytes;
        }
    }

    /** Nanoseconds to wait before more may be passed on; 0 if it may now. */
    long owedNanos() {
        return owed <= 0 ? 0 : Math.max(1, (long) Math.ceil(owed / bytesPerSecond * NANOS));
    }

    void waited(long nanos) {
        owed = Math.max(0, owed - bytesPerSecond * (nanos / NANOS));
    }
}
