package trigon.software.connection;

import java.io.IOException;
import java.nio.channels.Selector;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import trigon.software.queue.PaddedCounter;
import trigon.stream.loop.EventLoop;

/**
 * The lock under which a queue pair makes progress: whoever posts sends, and whoever polls its completion queue sends
 * and receives. While a long message is under way, a {@link Mover} makes all progress, and who posts or polls makes
 * none. On the data path nobody waits for the lock: a thread that fails to take it leaves the work to its holder, which
 * looks again after letting go.
 *
 * <p>When nobody polls, the {@link EventLoop} makes progress. Its selector has the sockets until one is ready. Then
 * it takes them out and watches the lock: as long as this is polled, that costs a look every {@value #POLLED_MILLIS}
 * ms; after so long without a poll, the event loop does the work and puts the sockets back. So an idle process sleeps,
 * and one that polls never meets the event loop.
 */
public final class ProgressLock implements EventLoop.Watched {

    public interface Work {

        /**
         * Moves what there is, but no long message unless a mover does it; under the lock.
         *
         * @param receives whether to receive too, and not only to send
         * @param unpolled whether the event loop does it, since nobody polls
         * @param now {@link System#nanoTime}
         */
        void progress(boolean receives, boolean unpolled, long now);

        /** It has failed, for lack of memory or by a defect; under the lock. */
        void fail(Throwable cause);

        /** Returns whether something has come up since the last time; any thread. */
        boolean isDue();

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
    private final EventLoop eventLoop;
    private final @Nullable Mover mover;

    /** Held by whoever moves data or changes state. Who has let go of it looks once more whether more is due. */
    private final ReentrantLock lock = new ReentrantLock();

    private final Condition changed = lock.newCondition();
    /** When it was polled last; written by the polling thread. */
    private final PaddedCounter polledAt = new PaddedCounter();

    /** True if the event loop looks at it every now and then, instead of at its sockets; under the lock. */
    private boolean watched;

    /** The mover makes progress. Written under the lock. */
    private volatile boolean given;

    /** The mover is sending, and goes on with what is posted behind that. Written under the lock. */
    private volatile boolean sending;
    /** The mover's, while it has not begun to move. */
    private @Nullable ProgressLock givenBefore;

    /** A socket is ready, or may be; the mover's. */
    private boolean ready;

    /** By the mover alone: who holds the lock is the mover. */
    private boolean moving;

    /**
     * The lock of one queue pair.
     *
     * @param mover of its long messages; null if it has none that are
     */
    public ProgressLock(Work work, EventLoop eventLoop, @Nullable Mover mover) {
        this.work = work;
        this.eventLoop = eventLoop;
        this.mover = mover;
    }

    // ---- data path

    /** Sends and receives what there is; for who polls the completion queue. */
    public void poll() {
        long now = System.nanoTime();
        polledAt.setRelease(now);
        drive(true, now);
    }

    /** Sends what there is; for who has posted a send. */
    public void send() {
        if (given && !sending) {
            wakeMover();
        }
        drive(false, System.nanoTime());
    }

    /** Goes on with what waits for a receive; for who has posted that. */
    public void goOn() {
        if (given) {
            wakeMover();
        }
        drive(false, System.nanoTime());
    }

    private void wakeMover() {
        if (mover != null) {
            mover.wakeUp();
        }
    }

    private void drive(boolean receives, long now) {
        do {
            // who waits for the lock changes the state: he goes first, and drives when he is done
            if (given || lock.hasQueuedThreads() || !lock.tryLock()) {
                return;
            }
            boolean gives;
            try {
                gives = progress(receives, false, now);
            } finally {
                lock.unlock();
            }
            if (gives) {
                give();
            }
        } while (work.isDue());
    }

    /** Under the lock; whether it is to be {@linkplain #give given} to the mover after that. */
    private boolean progress(boolean receives, boolean unpolled, long now) {
        try {
            work.progress(receives, unpolled, now);
            if (!given && leavesToMover() && hasLongMessage()) {
                given = true;
                return true;
            }
            arm();
        } catch (RuntimeException | VirtualMachineError e) {
            // the second is a lack of memory most likely: neither may reach the thread that posts or polls
            work.fail(e);
        }
        return false;
    }

    /** Not under the lock, which the mover takes first. */
    private void give() {
        if (mover != null) {
            mover.take(this);
        }
    }

    // ---- the mover

    private void armFor(@Nullable DataConnection connection, Selector mover) throws IOException {
        if (connection != null) {
            connection.armFor(mover, this);
        }
    }

    private static boolean listen(@Nullable DataConnection connection) {
        return connection != null && connection.listen();
    }

    private static void disarmFor(@Nullable DataConnection connection, Selector mover) {
        if (connection != null) {
            connection.disarmFor(mover);
        }
    }

    private boolean hasLongMessage() {
        return hasLongMessage(work.outbound()) || hasLongMessage(work.inbound());
    }

    private boolean hasLongMessage(@Nullable DataConnection connection) {
        return connection != null && isLong(connection.bytesUnderWay());
    }

    /** Returns whether a payload of that length is a mover's. */
    public boolean isLong(int length) {
        return mover != null && length >= mover.fromBytes();
    }

    /** Returns whether a payload of that length is left to the mover by who makes progress now; under the lock. */
    public boolean isLeftToMover(int length) {
        return isLong(length) && leavesToMover();
    }

    private boolean leavesToMover() {
        return !moving && mover != null && !mover.hasEnded();
    }

    void setGivenBefore(@Nullable ProgressLock before) {
        givenBefore = before;
    }

    @Nullable
    ProgressLock givenBefore() {
        return givenBefore;
    }

    /** The mover is to look at it. */
    void setReady() {
        ready = true;
    }

    /** Makes progress if a socket is ready; whether there is more for the mover to do. */
    boolean move(Selector selector) {
        if (!ready) {
            return true;
        }
        ready = false;
        boolean more;
        lock.lock();
        try {
            more = moveLocked(selector);
        } finally {
            lock.unlock();
        }
        if (!more && work.isDue()) {
            send();
        }
        return more;
    }

    private boolean moveLocked(Selector selector) {
        moving = true;
        try {
            listen(work.outbound());
            listen(work.inbound());
            do {
                work.progress(true, false, System.nanoTime());
                sending = hasLongMessage(work.outbound());
            } while (work.isDue());
            if (hasLongMessage()) {
                armFor(work.outbound(), selector);
                armFor(work.inbound(), selector);
                return true;
            }
        } catch (IOException | RuntimeException | VirtualMachineError e) {
            work.fail(e);
        } finally {
            moving = false;
        }
        disarmFor(work.outbound(), selector);
        disarmFor(work.inbound(), selector);
        given = false;
        sending = false;
        arm();
        return false;
    }

    /** The mover has come to its end; whoever polls makes progress again. */
    void takeBack() {
        lock.lock();
        try {
            given = false;
            arm();
        } finally {
            lock.unlock();
        }
    }

    // ---- the event loop

    /** One of the sockets is ready. The event loop. */
    public void onReady() {
        locked(() -> {
            boolean woken = listen(work.outbound());
            if (listen(work.inbound()) || woken) {
                becomeWatched();
            }
        });
    }

    /** The sockets leave the selector, and the event loop looks here every now and then. Under the lock. */
    private void becomeWatched() {
        if (!watched) {
            watched = true;
            disarm(work.outbound());
            disarm(work.inbound());
            eventLoop.watch(this);
        }
    }

    @Override
    public long look() {
        if (given || System.nanoTime() - polledAt.getAcquire() < POLLED_NANOS) {
            return POLLED_NANOS;
        }
        boolean[] gives = new boolean[1];
        locked(() -> {
            gives[0] = progress(true, true, System.nanoTime());
            boolean reads = hasInput(work.outbound()) || hasInput(work.inbound());
            watched = !gives[0] && (reads || isSending(work.outbound()) || isSending(work.inbound()));
            if (reads) {
                eventLoop.wakeUp(); // and so it looks again without a wait
            }
        }); // and arms the sockets, unless it is watched
        if (gives[0]) {
            give();
        }
        return watched ? POLLED_NANOS : DONE;
    }

    private static boolean hasInput(@Nullable DataConnection connection) {
        return connection != null && connection.hasInput();
    }

    private static boolean isSending(@Nullable DataConnection connection) {
        return connection != null && connection.isSending();
    }

    /** Has the event loop look after the sockets, unless it watches all of it, or a mover does; under the lock. */
    public void arm() {
        if (!watched && !given) {
            arm(work.outbound());
            arm(work.inbound());
        }
    }

    private static void arm(@Nullable DataConnection connection) {
        if (connection != null) {
            connection.arm();
        }
    }

    private static void disarm(@Nullable DataConnection connection) {
        if (connection != null) {
            connection.disarm();
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
        if (given) {
            wakeMover(); // there may be no long message any more
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

    /** Wakes those who {@linkplain #await await} something; under the lock. */
    public void signal() {
        changed.signalAll();
    }

    @Override
    public String toString() {
        return work.toString();
    }
}
