package trigon.testsupport;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import trigon.system.NanoClock;

/** A clock that stands still until a test moves it. Thread-safe. */
public final class ManualClock implements NanoClock {

    /** The sign changes within a second: code that compares times instead of differences is found. */
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 700_000_000);

    private final List<Runnable> sleepers = new CopyOnWriteArrayList<>();

    @Override
    public long nanoTime() {
        return nanos.get();
    }

    /** Moves it on, then wakes up whatever waits for a time. */
    public void advance(Duration time) {
        nanos.addAndGet(time.toNanos());
        sleepers.forEach(Runnable::run);
    }

    /** Has something look at the clock again each time it has moved, on the thread that moves it. */
    public void whenAdvanced(Runnable look) {
        sleepers.add(look);
    }
}
