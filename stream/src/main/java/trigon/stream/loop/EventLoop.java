package trigon.stream.loop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.NanoClock;

/**
 * A background thread for sockets that do not block. It accepts connections and opens them, keeps the time, and moves
 * the data of those owners that nobody polls; who polls moves the data himself, without a change of threads.
 *
 * <p>An owner's sockets are in the selector until one has something to say. Then it takes all of them out and has the
 * event loop {@linkplain #watch watch} it: as long as it is polled, it costs a look every {@value #POLLED_MILLIS} ms;
 * after so long without a poll the event loop does its work, and puts the sockets back. So an idle process sleeps, and
 * one that polls neither meets the event loop nor tells it anything.
 *
 * <p>The thread starts with the first thing to do, and ends with {@link #close}.
 */
public final class EventLoop implements AutoCloseable {

    /** What a channel in the selector belongs to. Called by the event loop. */
    public interface Handler {

        /** The channel is ready for what its key asks for. */
        void onReady();
    }

    /** An owner of sockets who moves their data himself, as long as he is polled. Called by the event loop. */
    public interface Watched {

        /** Makes progress unless somebody polls; true if its sockets are armed, and it need not be watched any more. */
        boolean progressUnpolled();
    }

    /** How long closing waits for a thread to end. */
    public static final long JOIN_MILLIS = 5000;

    /** After a failure, for lack of file descriptors for example: trying again at once would be trying without end. */
    public static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /**
     * How long after it was polled an owner still counts as polled. Longer than NCCL's thread is without a
     * processor on a busy machine, and shorter than any time limit of a peer that waits for an answer.
     */
    private static final long POLLED_MILLIS = 20;

    public static final long POLLED_NANOS = TimeUnit.MILLISECONDS.toNanos(POLLED_MILLIS);

    private static final Logger log = LoggerFactory.getLogger(EventLoop.class);

    private final String name;
    private final NanoClock clock;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final PriorityQueue<Timer> timers = new PriorityQueue<>(); // guarded by itself
    private final List<Watched> watched = new ArrayList<>(); // the thread's own
    private @Nullable Selector selector; // guarded by this
    private @Nullable Thread thread; // guarded by this
    private volatile boolean closed;

    /**
     * One that has nothing to do yet.
     *
     * @param name of its thread
     * @param clock of its timers
     */
    public EventLoop(String name, NanoClock clock) {
        this.name = name;
        this.clock = clock;
    }

    // ---- any thread

    private synchronized Selector started() throws IOException {
        Selector open = selector;
        if (open == null) {
            if (closed) {
                throw new ClosedSelectorException();
            }
            open = Selector.open();
            selector = open;
        }
        if (thread == null && !closed) {
            Selector mine = open;
            Thread starting = new Thread(() -> run(mine), name);
            starting.setDaemon(true);
            starting.start(); // or there is no memory for a thread, and the next call tries again
            thread = starting;
        }
        return open;
    }

    /** Has a task done soon; not at all once the event loop is closed. */
    public void execute(Runnable task) {
        tasks.add(task);
        wakeUp();
    }

    /** What its timers go by. */
    public long nanoTime() {
        return clock.nanoTime();
    }

    /** Has a timer fire in so many nanoseconds; not at all once the event loop is closed. */
    public void schedule(Timer timer, long nanos) {
        boolean first;
        synchronized (timers) {
            timers.remove(timer);
            timer.scheduled(clock, nanos);
            Timer next = timers.peek();
            first = next == null || timer.compareTo(next) < 0;
            timers.add(timer);
        }
        if (first) {
            wakeUp();
        }
    }

    /** Has a timer not fire, if it is scheduled. Under the lock of who schedules it, or it may be firing already. */
    public void cancel(Timer timer) {
        synchronized (timers) {
            timer.cancelled();
            timers.remove(timer);
        }
    }

    /** Has it look again at its tasks, timers, and what the keys ask for. */
    public void wakeUp() {
        if (closed) {
            return;
        }
        try {
            started().wakeup();
        } catch (ClosedSelectorException _) {
            // just now
        } catch (IOException e) {
            throw new UncheckedIOException("no selector for " + name, e);
        }
    }

    /**
     * Adds a channel.
     *
     * @throws IOException if there is no selector any more, or never was
     */
    public SelectionKey register(SelectableChannel channel, int interest, Handler owner) throws IOException {
        try {
            Selector open = started();
            SelectionKey key = channel.register(open, interest, owner);
            open.wakeup();
            return key;
        } catch (ClosedSelectorException e) {
            throw new IOException(name + " has ended", e);
        }
    }

    /** Has a task run once, as soon as a channel, which stays its owner's, has something to read or to accept. */
    public void whenReady(SelectableChannel channel, Runnable task) throws IOException {
        FirstReady first = new FirstReady(task);
        SelectionKey key = register(channel, 0, first);
        first.key = key;
        key.interestOps(channel.validOps() & (SelectionKey.OP_READ | SelectionKey.OP_ACCEPT));
        wakeUp();
    }

    private static final class FirstReady implements Handler {

        private final Runnable task;
        private volatile @Nullable SelectionKey key; // set before it is called

        FirstReady(Runnable task) {
            this.task = task;
        }

        @Override
        public void onReady() {
            Objects.requireNonNull(key).cancel();
            task.run();
        }
    }

    // ---- its thread

    /** Looks at an owner every now and then, until that is left alone and has nothing to do. */
    public void watch(Watched owner) {
        watched.add(owner);
    }

    private void run(Selector open) {
        try (open) {
            try {
                while (!closed) {
                    iterate(open);
                }
            } finally {
                closeChannels(open);
            }
        } catch (IOException | RuntimeException | VirtualMachineError e) {
            log.error("{} ends: software links no longer work in this process", name, e);
        }
    }

    private void iterate(Selector open) throws IOException {
        long millis = millisToSleep();
        if (millis == 0) {
            open.selectNow();
        } else {
            open.select(millis == Long.MAX_VALUE ? 0 : millis);
        }
        runTasks();
        fireTimers();
        if (!open.selectedKeys().isEmpty()) { // an iterator for each iteration would be garbage
            handleReady(open.selectedKeys().iterator());
        }
        watched.removeIf(owner -> {
            try {
                return owner.progressUnpolled();
            } catch (RuntimeException | VirtualMachineError e) {
                log.warn("{} cannot take a completion; this is a defect of the software device", owner, e);
                return true;
            }
        });
    }

    private static void handleReady(Iterator<SelectionKey> ready) {
        while (ready.hasNext()) {
            SelectionKey key = ready.next();
            ready.remove();
            if (key.isValid() && key.attachment() instanceof Handler owner) {
                guarded(owner::onReady);
            }
        }
    }

    /** Until the next timer, or the next look at what is watched; {@link Long#MAX_VALUE} for until woken. */
    private long millisToSleep() {
        if (!tasks.isEmpty() || closed) {
            return 0;
        }
        long nanos = watched.isEmpty() ? Long.MAX_VALUE : POLLED_NANOS;
        synchronized (timers) {
            Timer next = timers.peek();
            if (next != null) {
                nanos = Math.min(nanos, Math.max(0, next.nanosLeft()));
            }
        }
        // rounded up: waking early would be waking for nothing
        return nanos == Long.MAX_VALUE ? nanos : Math.ceilDiv(nanos, TimeUnit.MILLISECONDS.toNanos(1));
    }

    private void runTasks() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            guarded(task);
        }
    }

    private void fireTimers() {
        while (true) {
            Timer due;
            synchronized (timers) {
                due = timers.peek();
                if (due == null || due.nanosLeft() > 0) {
                    return;
                }
                timers.remove();
            }
            guarded(due::fire);
        }
    }

    private static void guarded(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | VirtualMachineError e) {
            // the second is a lack of memory most likely: one connection less is no reason to leave all others alone
            log.warn("out of memory, or a defect of the software device", e);
        }
    }

    /** Peers are to see that this end is gone. */
    private static void closeChannels(Selector open) throws IOException {
        for (SelectionKey key : open.keys()) {
            if (!(key.attachment() instanceof FirstReady)) {
                key.channel().close();
            }
        }
        open.selectNow(); // lets go of the sockets
    }

    /** Ends the thread and closes all channels that it has. */
    @Override
    public void close() {
        Thread running;
        Selector open;
        synchronized (this) {
            closed = true;
            running = thread;
            open = selector;
        }
        if (open == null || running == null) {
            return;
        }
        open.wakeup();
        try {
            running.join(JOIN_MILLIS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
