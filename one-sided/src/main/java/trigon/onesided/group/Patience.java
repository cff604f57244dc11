package trigon.onesided.group;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import trigon.nccl.NoConnectionException;

/**
 * The control path's wait for other ranks: it looks, at first again and again, then now and then.
 *
 * @param clock nanoseconds, as {@link System#nanoTime}
 * @param limit of a wait that nothing else ends
 */
public record Patience(LongSupplier clock, Duration limit) {

    private static final int BUSY_LOOKS = 2000;
    private static final long PAUSE = TimeUnit.MICROSECONDS.toNanos(100);

    /** The same with another limit. */
    Patience of(Duration other) {
        return new Patience(clock, other);
    }

    /** Waits, and gives up after the limit. */
    void briefly(BooleanSupplier look) {
        long end = clock.getAsLong() + limit.toNanos();
        for (int looks = 0; !look.getAsBoolean() && clock.getAsLong() - end < 0; looks++) {
            pause(looks);
        }
    }

    /** Waits for as long as it takes: whoever does not come fails the look. */
    void until(BooleanSupplier look) {
        for (int looks = 0; !look.getAsBoolean(); looks++) {
            pause(looks);
        }
    }

    /** Waits, but not longer than the limit. */
    void until(BooleanSupplier look, Supplier<String> what) {
        long end = clock.getAsLong() + limit.toNanos();
        for (int looks = 0; !look.getAsBoolean(); looks++) {
            if (clock.getAsLong() - end > 0) {
                throw new NoConnectionException(what.get());
            }
            pause(looks);
        }
    }

    private static void pause(int looks) {
        if (looks < BUSY_LOOKS) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(PAUSE);
        }
    }
}
