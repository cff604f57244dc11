package trigon.stream.loop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.NanoClock;

/**
 * A daemon thread for channels that do not block: it calls the handlers of those that are ready, runs tasks, fires
 * timers, and looks at what asks for looks. An iteration goes to each ready channel once.
 *
 * <p>The thread starts with the first thing to do, and ends with {@link #close}.
 */
public final class EventLoop implements AutoCloseable {

    /** The owner of a channel in the selector. Called by the event loop. */
    public interface Handler {

        /** The channel is ready for an operation of its key. */
        void onReady();

        /**
         * The event loop has ended: closes the channel, so that peers see that this end is gone.
         *
         * @throws IOException if that fails
         */
        default void onLoopEnd(SelectableChannel channel) throws IOException {
            channel.close();
        }
    }

    /** An owner of something that no selector tells of. Called by the event loop. */
    public interface Watched {

        /** Returned by {@link #look} of an owner that need not be watched any more. */
        long DONE = -1;

        /**
         * Makes progress, after each iteration.
         *
         * @return nanoseconds until the next look at the latest; {@link Long#MAX_VALUE} for any number, or
         *     {@link #DONE}
         */
        long look();

        /** Gives back what it holds, once the thread has ended, or a look has failed and is the last. */
        default void onEnd() {}
    }

    /** The longest that closing waits for a thread. */
    public static final long JOIN_MILLIS = 5000;

    /** The pause after a failure that may pass, such as a lack of file descriptors. */
    public static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final Logger log = LoggerFactory.getLogger(EventLoop.class);

    private final String name;
    private final String loss;
    private final NanoClock clock;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final PriorityQueue<Timer> timers = new PriorityQueue<>(); // guarded by itself
    private final List<Watched> watched = new ArrayList<>(); // the thread's own
    private final Consumer<SelectionKey> onReady = this::onReady;
    private long nanosToLook = Long.MAX_VALUE; // the thread's own
    private @Nullable Selector selector; // guarded by this
    private @Nullable Thread thread; // guarded by this
    private volatile boolean closed;

    /**
     * An event loop that has nothing to do yet.
     *
     * @param name of its thread
     * @param loss what the process can do no longer without it, for the log
     * @param clock of its timers
     */
    public EventLoop(String name, String loss, NanoClock clock) {
        this.name = name;
        this.loss = loss;
        this.clock = clock;
    }

    // ---- any thread

    private synchronized Selector opened() throws IOException {
        Selector open = selector;
        if (open == null) {
            if (closed) {
                throw new ClosedSelectorException();
            }
            open = Selector.open();
            selector = open;
        }
        return open;
    }

    private synchronized Selector started() throws IOException {
        Selector open = opened();
        if (thread == null && !closed) {
            Thread starting = new Thread(() -> run(open), name);
            starting.setDaemon(true);
            starting.start(); // throws if there is no memory for a thread: the next call tries again
            thread = starting;
        }
        return open;
    }

    /** Has a task run soon; not at all once the event loop is closed. */
    public void execute(Runnable task) {
        tasks.add(task);
        wakeUp();
    }

    /** The time of its timers. */
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

    /** Keeps a scheduled timer from firing; under the lock of its schedulers, or it may be firing already. */
    public void cancel(Timer timer) {
        synchronized (timers) {
            timer.cancelled();
            timers.remove(timer);
        }
    }

    /** Starts the thread unless it runs, and has it look again at its tasks, timers, keys, and what it watches. */
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
     * Adds a channel, and starts the thread unless it runs.
     *
     * @throws IOException if there is no selector any more, or never was
     */
    public SelectionKey register(SelectableChannel channel, int interest, Handler owner) throws IOException {
        SelectionKey key = prepare(channel, interest, owner);
        wakeUp();
        return key;
    }

    /** Adds a channel for the time when the thread runs. */
    public SelectionKey prepare(SelectableChannel channel, int interest, Handler owner) throws IOException {
        try {
            return channel.register(opened(), interest, owner);
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

        /** It stays its owner's. */
        @Override
        public void onLoopEnd(SelectableChannel channel) {}
    }

    // ---- its thread

    /** Looks at an owner from now on. Called by the event loop's thread, or before it has one. */
    public void watch(Watched owner) {
        watched.add(owner);
    }

    private void run(Selector open) {
        try {
            while (!closed) {
                iterate(open);
            }
        } catch (IOException | RuntimeException | VirtualMachineError e) {
            log.error("{} has stopped: {}", name, loss, e);
        } finally {
            end(open);
        }
    }

    private void iterate(Selector open) throws IOException {
        long millis = millisToSleep();
        if (millis == 0) {
            open.selectNow(onReady);
        } else {
            open.select(onReady, millis == Long.MAX_VALUE ? 0 : millis);
        }
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            guarded(task);
        }
        fireTimers();
        look();
    }

    private void onReady(SelectionKey key) {
        if (key.isValid() && key.attachment() instanceof Handler owner) {
            try { // not guarded: a lambda for each would be garbage
                owner.onReady();
            } catch (RuntimeException | VirtualMachineError e) {
                onFailure(e);
            }
        }
    }

    private void look() {
        nanosToLook = Long.MAX_VALUE;
        for (int i = watched.size() - 1; i >= 0; i--) {
            long nanos = look(watched.get(i));
            if (nanos < 0) {
                watched.remove(i);
            } else {
                nanosToLook = Math.min(nanosToLook, nanos);
            }
        }
    }

    private long look(Watched owner) {
        try {
            return owner.look();
        } catch (RuntimeException | VirtualMachineError e) {
            log.warn("{} is given up; this is a defect", owner, e);
            guarded(owner::onEnd);
            return Watched.DONE;
        }
    }

    /** The longest sleep: until the next timer or look; {@link Long#MAX_VALUE} for until woken. */
    private long millisToSleep() {
        if (!tasks.isEmpty() || closed) {
            return 0;
        }
        long nanos = nanosToLook;
        synchronized (timers) {
            Timer next = timers.peek();
            if (next != null) {
                nanos = Math.min(nanos, Math.max(0, next.nanosLeft()));
            }
        }
        // rounded up: waking early would be waking for nothing
        return nanos == Long.MAX_VALUE ? nanos : Math.ceilDiv(nanos, TimeUnit.MILLISECONDS.toNanos(1));
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

    private void guarded(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | VirtualMachineError e) {
            onFailure(e);
        }
    }

    /** Logs a failure, most likely a lack of memory: one failed connection must not stop the others. */
    private void onFailure(Throwable cause) {
        log.warn("{} goes on after a lack of memory, or a defect", name, cause);
    }

    /** Closes what it has, so that peers see that this end is gone. */
    private void end(Selector open) {
        watched.forEach(owner -> guarded(owner::onEnd));
        try (open) {
            for (SelectionKey key : List.copyOf(open.keys())) {
                if (key.attachment() instanceof Handler owner) {
                    owner.onLoopEnd(key.channel());
                } else {
                    key.channel().close();
                }
            }
        } catch (IOException e) {
            log.debug("{} cannot close its channels", name, e);
        }
    }

    /** Ends the thread and closes all channels that it has. Closing twice is allowed. */
    @Override
    public void close() {
        Thread running;
        Selector open;
        synchronized (this) {
            closed = true;
            running = thread;
            open = selector;
        }
        if (open == null || !open.isOpen()) {
            return;
        }
        if (running == null) {
            end(open);
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
