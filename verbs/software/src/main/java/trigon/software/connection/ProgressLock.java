package trigon.software.connection;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import trigon.software.queue.PaddedCounter;

/**
 * The lock under which a queue pair makes progress: whoever posts sends, and whoever polls its completion queue sends
 * and receives. On the data path nobody waits for the lock: who does not get it leaves the work to who has it, and that
 * one looks again after letting go. When nobody polls, the {@link EventLoop} makes the progress.
 */
public final class ProgressLock {

    /** What is done under the lock. */
    public interface Work {

        /**
         * Moves what there is; under the lock.
         *
         * @param receives whether to receive too, and not only to send
         * @param unpolled whether the event loop does it, since nobody polls
         * @param now {@link System#nanoTime}
         */
        void progress(boolean receives, boolean unpolled, long now);

        /** It has failed, for lack of memory or by a defect; under the lock. */
        void fail(Throwable cause);

        /** Whether something has come up since the last time; any thread. */
        boolean isDue();

        /** Leaves the sockets to the event loop's selector; under the lock. */
        void arm();

        /** Takes them out of it; under the lock. */
        void disarm();
    }

    private final Work work;
    private final EventLoop eventLoop;

    /** Held by whoever moves data or changes state. Who has let go of it looks once more whether more is due. */
    private final ReentrantLock lock = new ReentrantLock();

    private final Condition changed = lock.newCondition();
    /** When it was polled last; written by the polling thread. */
    private final PaddedCounter polledAt = new PaddedCounter();

    /** Whether the event loop looks at it every now and then, instead of at its sockets; under the lock. */
    private boolean watched;
    /** The event loop's, while it has not begun to watch. */
    private @Nullable ProgressLock watchedBefore;

    /** The lock of one queue pair, whose work the event loop does when nobody polls. */
    public ProgressLock(Work work, EventLoop eventLoop) {
        this.work = work;
        this.eventLoop = eventLoop;
    }

    // ---- data path

    /** Sends and receives what there is; for who polls the completion queue. */
    public void poll() {
        long now = System.nanoTime();
        polledAt.setRelease(now);
        drive(true, now);
    }

    /** Sends what there is; for who has posted something. */
    public void send() {
        drive(false, System.nanoTime());
    }

    private void drive(boolean receives, long now) {
        do {
            // who waits for the lock changes the state: he goes first, and drives when he is done
            if (lock.hasQueuedThreads() || !lock.tryLock()) {
                return;
            }
            try {
                progress(receives, false, now);
            } finally {
                lock.unlock();
            }
        } while (work.isDue());
    }

    private void progress(boolean receives, boolean unpolled, long now) {
        try {
            if (receives && !unpolled) {
                becomeWatched();
            }
            work.progress(receives, unpolled, now);
            arm();
        } catch (RuntimeException | VirtualMachineError e) {
            // the second is a lack of memory most likely: neither may reach the thread that posts or polls
            work.fail(e);
        }
    }

    // ---- the event loop

    /** One of the sockets is ready. */
    public void onReady() {
        locked(this::becomeWatched);
    }

    /** The sockets leave the selector, and the event loop looks here every now and then. Under the lock. */
    private void becomeWatched() {
        if (!watched) {
            watched = true;
            work.disarm();
            eventLoop.watch(this);
        }
    }

    /** {@link EventLoop#watch}. */
    void setWatchedBefore(@Nullable ProgressLock before) {
        watchedBefore = before;
    }

    @Nullable
    ProgressLock watchedBefore() {
        return watchedBefore;
    }

    /** Makes progress unless somebody polls; true if it need not be watched any more, since its sockets are armed. */
    boolean progressUnpolled() {
        if (System.nanoTime() - polledAt.getAcquire() < EventLoop.POLLED_NANOS) {
            return false;
        }
        locked(() -> {
            watched = false;
            progress(true, true, System.nanoTime());
        });
        return true;
    }

    /** Has the event loop look after the sockets, unless it watches all of it; under the lock. */
    public void arm() {
        if (!watched) {
            work.arm();
        }
    }

    // ---- control path

    /** Runs an action under the lock, and then what has come up meanwhile. */
    public void locked(Runnable action) {
        lock.lock();
        try {
            action.run();
            arm(); // it may have left something that the socket did not take
        } finally {
            lock.unlock();
        }
        if (work.isDue()) {
            send();
        }
    }

    /**
     * Within {@link #locked}: lets others have the lock until a {@link #signal} after which it is over, or the time
     * is up.
     */
    public void await(BooleanSupplier over, long nanos) {
        long left = nanos;
        try {
            while (!over.getAsBoolean() && left > 0) {
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /** What somebody {@linkplain #await awaits} may have come; under the lock. */
    public void signal() {
        changed.signalAll();
    }

    @Override
    public String toString() {
        return work.toString();
    }
}
