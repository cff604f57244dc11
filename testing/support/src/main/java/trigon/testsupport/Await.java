package trigon.testsupport;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waiting with a deadline. Generous, since it only shows when something is broken: machines may be slow. */
public final class Await {

    /** Long enough for the slowest device that the tests run on. */
    public static final Duration DEADLINE = Duration.ofSeconds(60);

    private static final long MIN_PAUSE_NANOS = 50_000;

    /** A look may read a file or start a program: it takes no more than half of the time. */
    private static final long MAX_PAUSE_NANOS = 20_000_000;

    private Await() {}

    /** Waits until the condition holds. */
    public static void until(String what, BooleanSupplier condition) {
        until(what, DEADLINE, condition);
    }

    /**
     * Waits until the condition holds.
     *
     * @throws AssertionError naming {@code what} if it does not by the deadline
     */
    public static void until(String what, Duration deadline, BooleanSupplier condition) {
        until(() -> what, deadline, condition);
    }

    /** The same, with the words found only when they are needed. */
    public static void until(Supplier<String> what, Duration deadline, BooleanSupplier condition) {
        if (!holdsWithin(deadline, condition)) {
            throw new AssertionError("not within " + deadline.toSeconds() + " s: " + what.get());
        }
    }

    /** Waits until the condition holds, but no longer than that; returns whether it does. */
    public static boolean holdsWithin(Duration deadline, BooleanSupplier condition) {
        long begin = System.nanoTime();
        long look = begin;
        while (!condition.getAsBoolean()) {
            long now = System.nanoTime();
            if (now - begin > deadline.toNanos()) {
                return false;
            }
            LockSupport.parkNanos(Math.clamp(now - look, MIN_PAUSE_NANOS, MAX_PAUSE_NANOS));
            look = System.nanoTime();
        }
        return true;
    }
}
