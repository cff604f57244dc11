package trigon.software.connection;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import trigon.software.call.NativePair;
import trigon.software.call.Word;
import trigon.stream.loop.EventLoop;

/**
 * The lock of a queue pair, as Java takes it: that of C, in which who posts, polls or moves data makes progress, within
 * one that a thread may take again.
 *
 * <p>When nobody polls, the {@link EventLoop} makes progress. Its selector has the sockets until one is ready. Then
 * it takes them out and watches the lock: as long as this is polled, that costs a look every {@value #POLLED_MILLIS}
 * ms; after so long without a poll, the event loop does the work and puts the sockets back. So an idle process sleeps,
 * and one that polls never meets the event loop.
 */
public final class ProgressLock implements EventLoop.Watched {

    public interface Work {

        /** Does what C has asked for since the last time; under the lock. */
        void onAttention();

        /** The connection on which requests go out; null if there is none. Under the lock. */
        @Nullable
        DataConnection outbound();

        /** The connection on which requests come in; null if there is none. Under the lock. */
        @Nullable
        DataConnection inbound();
    }

    /**
     * The time for which an owner that was polled still counts as polled. Longer than NCCL's thread is without a
     * processor on a busy machine, and shorter than any time limit of a peer that waits for an answer.
     */
    private static final long POLLED_MILLIS = 20;

    private static final long POLLED_NANOS = TimeUnit.MILLISECONDS.toNanos(POLLED_MILLIS);

    private final Work work;
    private final NativePair pair;
    private final EventLoop eventLoop;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** True if the event loop looks at it every now and then, instead of at its sockets; under the lock. */
    private boolean watched;

    /** The lock of one queue pair. */
    public ProgressLock(Work work, NativePair pair, EventLoop eventLoop) {
        this.work = work;
        this.pair = pair;
        this.eventLoop = eventLoop;
    }

    // ---- the event loop

    /** One of the sockets is ready. The event loop. */
    public void onReady() {
        locked(() -> {
            boolean woken = listen(work.outbound(), Word.WANTED_OUT);
            if (listen(work.inbound(), Word.WANTED_IN) || woken) {
                becomeWatched();
            }
        });
    }

    private boolean listen(@Nullable DataConnection connection, Word wanted) {
        return connection != null && connection.listen((int) pair.get(wanted));
    }

    /** The sockets leave the selector, and the event loop looks here every now and then. Under the lock. */
    private void becomeWatched() {
        if (!watched) {
            setWatched(true);
            disarm(work.outbound(), Word.ARMED_OUT);
            disarm(work.inbound(), Word.ARMED_IN);
            eventLoop.watch(this);
        }
    }

    private void setWatched(boolean on) {
        watched = on;
        pair.set(Word.WATCHED, on ? 1 : 0);
    }

    @Override
    public long look() {
        if (pair.has(Word.GIVEN) || System.nanoTime() - pair.get(Word.POLLED_AT) < POLLED_NANOS) {
            return POLLED_NANOS;
        }
        boolean[] gives = new boolean[1];
        locked(() -> {
            gives[0] = !pair.has(Word.GIVEN) && pair.progress();
            work.onAttention();
            boolean reads = hasInput(work.outbound()) || hasInput(work.inbound());
            setWatched(!gives[0] && (reads || isSending(work.outbound()) || isSending(work.inbound())));
            if (reads) {
                eventLoop.wakeUp(); // and so it looks again without a wait
            }
        }); // and arms the sockets, unless it is watched
        if (gives[0]) {
            pair.give();
        }
        return watched ? POLLED_NANOS : DONE;
    }

    private static boolean hasInput(@Nullable DataConnection connection) {
        return connection != null && connection.carrier().hasInput();
    }

    private static boolean isSending(@Nullable DataConnection connection) {
        return connection != null && connection.carrier().isSending();
    }

    /** Has the event loop look after the sockets, unless it watches all of it, or a mover does; under the lock. */
    private void arm() {
        if (!watched && !pair.has(Word.GIVEN)) {
            arm(work.outbound(), Word.WANTED_OUT, Word.ARMED_OUT);
            arm(work.inbound(), Word.WANTED_IN, Word.ARMED_IN);
        }
    }

    private void arm(@Nullable DataConnection connection, Word wanted, Word armed) {
        if (connection != null) {
            connection.arm((int) pair.get(wanted));
            pair.set(armed, connection.armed());
        }
    }

    private void disarm(@Nullable DataConnection connection, Word armed) {
        if (connection != null) {
            connection.disarm();
            pair.set(armed, connection.armed());
        }
    }

    // ---- control path

    /** Runs an action under the lock, with what C asks for before and after it, and then what has come up meanwhile. */
    public void locked(Runnable action) {
        lock.lock();
        try {
            if (lock.getHoldCount() > 1) {
                action.run();
            } else {
                lockedOnce(action);
            }
        } finally {
            lock.unlock();
        }
    }

    private void lockedOnce(Runnable action) {
        pair.lock();
        try {
            work.onAttention();
            try {
                action.run();
            } finally {
                work.onAttention();
                arm(); // it may have left something that the socket did not take
            }
        } finally {
            pair.unlock();
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
                arm();
                pair.unlock();
                try {
                    left = changed.awaitNanos(left);
                } finally {
                    pair.lock();
                    work.onAttention();
                }
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /** Wakes those who {@linkplain #await await} something; under the lock. */
    public void signal() {
        changed.signalAll();
    }

    @Override
    public String toString() {
        return work.toString();
    }
}
