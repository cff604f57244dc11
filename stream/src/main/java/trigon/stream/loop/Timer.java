package trigon.stream.loop;

import java.util.concurrent.Executor;
import trigon.system.NanoClock;

/**
 * Something that the {@link EventLoop} does later, once each time that it is scheduled. Scheduled again and again it
 * allocates nothing.
 */
public final class Timer implements Comparable<Timer> {

    private final Executor guard;
    private final Runnable task;
    private final Runnable guarded = this::runIfDue;

    // changed by who schedules and cancels, and before the task runs: always under the guard, if it is a lock
    private volatile boolean scheduled;
    private NanoClock clock = NanoClock.SYSTEM;
    private long dueAt;

    /**
     * A timer.
     *
     * @param guard runs the task at once, on the calling thread; under the lock of those who schedule and cancel
     */
    public Timer(Executor guard, Runnable task) {
        this.guard = guard;
        this.task = task;
    }

    /** A timer that is never scheduled while it may be firing. */
    public Timer(Runnable task) {
        this(Runnable::run, task);
    }

    /** Returns whether it is going to fire. Under its guard. */
    public boolean isScheduled() {
        return scheduled;
    }

    void scheduled(NanoClock by, long nanos) {
        clock = by;
        dueAt = by.nanoTime() + nanos;
        scheduled = true;
    }

    void cancelled() {
        scheduled = false;
    }

    /** Nanoseconds until then; negative if it is late. */
    long nanosLeft() {
        return dueAt - clock.nanoTime();
    }

    void fire() {
        guard.execute(guarded);
    }

    private void runIfDue() {
        // it may have been cancelled, or scheduled anew, since it was taken out of the queue
        if (scheduled && nanosLeft() <= 0) {
            scheduled = false;
            task.run();
        }
    }

    @Override
    public int compareTo(Timer other) {
        return Long.signum(dueAt - other.dueAt);
    }

    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }
}
