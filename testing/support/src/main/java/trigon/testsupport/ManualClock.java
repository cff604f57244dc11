package trigon.testsupport;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import trigon.system.NanoClock;

/** A clock that stands still until a test moves it. Thread-safe. */
public final class ManualClock implements NanoClock {

    /** The sign changes within a second: code that compares times instead of differences is found. */
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 700_000_000);

    private final AtomicLong reads = new AtomicLong();

    @Override
    public long nanoTime() {
        reads.incrementAndGet();
        return nanos.get();
    }

    /**
     * Number of reads, with one that is going on. A thread that reads it in a loop has acted on the time of an {@link
     * #advance} once two more reads are counted: it begins the second one after that.
     */
    public long reads() {
        return reads.get();
    }

    /** Moves it on. What waits for a time has to look again by itself. */
    public void advance(Duration time) {
        nanos.addAndGet(time.toNanos());
    }
}
