package trigon.software;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whose turn it is to move a queue pair's data. Whoever posts sends, and whoever polls its completion queue sends and
 * receives: one thread at a time, the one that has the lock. On the data path nobody waits for it: who does not get it
 * leaves the work to who has it, and that one looks again after he has let go. When nobody polls, the {@link Attendant}
 * does.
 */
final class Turns {

    /** What is done in a turn, and what turns are for. */
    interface Work {

        /**
         * Moves what there is; under the lock.
         *
         * @param receives whether to receive too, and not only to send
         * @param attended whether the attendant does it, since nobody polls
         * @param now {@link System#nanoTime}
         */
        void turn(boolean receives, boolean attended, long now);

        /** A turn has failed, for lack of memory or by a defect; under the lock. */
        void fail(Throwable cause);

        /** Whether something has come up since the last turn; any thread. */
        boolean isDue();

        /** Leaves the sockets to the attendant's selector; under the lock. */
        void arm();

        /** Takes them out of it; under the lock. */
        void disarm();
    }

    private final Work work;
    private final Attendant attendant;

    /** Held by whoever moves data or changes state. Who has let go of it looks once more whether more is due. */
    private final ReentrantLock lock = new ReentrantLock();

    private final Condition changed = lock.newCondition();
    /** When it was polled last; written by the polling thread. */
    private final PaddedIndex polledAt = new PaddedIndex();

    /** Whether the attendant looks at it every now and then, instead of at its sockets; under the lock. */
    private boolean watched;
    /** The attendant's, while it has not begun to watch. */
    private @Nullable Turns watchedBefore;

    Turns(Work work, Attendant attendant) {
        this.work = work;
        this.attendant = attendant;
    }

    // ---- data path

    /** Sends and receives what there is; for who polls the completion queue. */
    void poll() {
        long now = System.nanoTime();
        polledAt.setRelease(now);
        drive(true, now);
    }

    /** Sends what there is; for who has posted something. */
    void send() {
        drive(false, System.nanoTime());
    }

    private void drive(boolean receives, long now) {
        do {
            // who waits for the lock changes the state: he goes first, and drives when he is done
            if (lock.hasQueuedThreads() || !lock.tryLock()) {
                return;
            }
            try {
                turn(receives, false, now);
            } finally {
                lock.unlock();
            }
        } while (work.isDue());
    }

    private void turn(boolean receives, boolean attended, long now) {
        try {
            if (receives && !attended) {
                becomeWatched();
            }
            work.turn(receives, attended, now);
            arm();
        } catch (RuntimeException | VirtualMachineError e) {
            // the second is a lack of memory most likely: neither may reach the thread that posts or polls
            work.fail(e);
        }
    }

    // ---- the attendant

    /** One of the sockets is ready. */
    void onReady() {
        locked(this::becomeWatched);
    }

    /** The sockets leave the selector, and the attendant looks here every now and then. Under the lock. */
    private void becomeWatched() {
        if (!watched) {
            watched = true;
            work.disarm();
            attendant.watch(this);
        }
    }

    /** {@link Attendant#watch}. */
    void setWatchedBefore(@Nullable Turns before) {
        watchedBefore = before;
    }

    @Nullable
    Turns watchedBefore() {
        return watchedBefore;
    }

    /** Takes a turn unless somebody polls; true if it need not be watched any more, since its sockets are armed. */
    boolean attend() {
        if (System.nanoTime() - polledAt.getAcquire() < Attendant.POLLED_NANOS) {
            return false;
        }
        locked(() -> {
            watched = false;
            turn(true, true, System.nanoTime());
        });
        return true;
    }

    /** Has the attendant look after the sockets, unless it watches all of it; under the lock. */
    void arm() {
        if (!watched) {
            work.arm();
        }
    }

    // ---- control path

    /** Runs an action under the lock, and then what has come up meanwhile. */
    void locked(Runnable action) {
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

    /** Within {@link #locked}: lets others have the lock until a {@link #change} after which it is over, or the time is up. */
    void await(BooleanSupplier over, long nanos) {
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
    void change() {
        changed.signalAll();
    }

    @Override
    public String toString() {
        return work.toString();
    }
}
