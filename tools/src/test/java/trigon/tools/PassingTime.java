package trigon.tools;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import trigon.tools.console.Time;

/** A time that passes by pauses alone. Each is a short one really, so that others get on. */
public class PassingTime implements Time {

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 700_000_000); // it runs over
    private final Duration step;

    /** So much passes with each pause, whatever is asked for. */
    public PassingTime(Duration step) {
        this.step = step;
    }

    @Override
    public long nanoTime() {
        return nanos.get();
    }

    @Override
    public void sleep(Duration time) throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(1);
        nanos.addAndGet(step.toNanos());
    }
}
