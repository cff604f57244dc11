package trigon.testsupport;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import trigon.system.NanoClock;

/** A clock that stands still until a test moves it. Thread-safe. */
public final class ManualClock implements NanoClock {

    /** The sign changes within a second: code that compares times instead of differences is found. */
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 700_000_000);

    @Override
    public long nanoTime() {
        return nanos.get();
    }

    /** Moves it on. What waits for a time has to look again by itself. */
    public void advance(Duration time) {
        nanos.addAndGet(time.toNanos());
    }
}
