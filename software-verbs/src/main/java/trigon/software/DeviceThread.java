package trigon.software;

import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An event loop thread of a provider, with the queue pairs and connections that it owns; other threads have their work
 * done on it. The thread starts with the first task.
 */
final class DeviceThread implements AutoCloseable {

    private static final long SHUTDOWN_SECONDS = 5;
    /** Without any, Netty ends a loop before the selector has closed its sockets, and a peer finds a dead listener. */
    private static final long QUIET_MILLIS = 20;

    private static final long CHECK_MILLIS = 100;

    private final int index;
    private final BusyPolling polling;
    private final ReceiveStaging staging = new ReceiveStaging();
    private final MultiThreadIoEventLoopGroup group;
    private final EventLoop loop;
    private final Runnable wakeUp;

    /**
     * A thread.
     *
     * @param index its number among those of its provider, from 0
     * @param pollNanos how long it looks for work before it blocks
     */
    DeviceThread(int index, long pollNanos) {
        this.index = index;
        polling = new BusyPolling(pollNanos);
        wakeUp = polling::onForeignTask;
        ThreadFactory factory = task -> daemon(task, "trigon-software-" + index);
        SelectorProvider selectors = SelectorProvider.provider();
        group = new MultiThreadIoEventLoopGroup(1, factory, NioIoHandler.newFactory(selectors, () -> polling));
        loop = group.next();
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new FastThreadLocalThread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    EventLoop loop() {
        return loop;
    }

    /** Its number among those of its provider. */
    int index() {
        return index;
    }

    /** Where its connections receive, one after the other. */
    ReceiveStaging staging() {
        return staging;
    }

    /** Begins to look after a queue pair. On the thread itself. */
    void attach(SoftwareQueuePair queuePair) {
        polling.attach(queuePair);
    }

    /** Ends what {@link #attach} began. On the thread itself. */
    void detach(SoftwareQueuePair queuePair) {
        polling.detach(queuePair);
    }

    /** Has an acknowledgement sent in a moment, after what is more urgent. On the thread itself. */
    void ringLater(ResponseStream stream) {
        polling.ringLater(stream);
    }

    /**
     * Has the thread look at its queue pairs soon; to be called after something was posted. Allocates nothing, and costs
     * nothing while the thread is awake.
     */
    void signal() {
        if (polling.signal()) {
            execute(wakeUp);
        }
    }

    /** Hands a task over without waiting. Allocates nothing. After the end of the thread the task is dropped. */
    void execute(Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException _) {
            // closed: nothing is left that the task could work on
        }
    }

    /** Runs an action on the thread and waits for it; rethrows what it throws. */
    void run(Runnable action) {
        call(() -> {
            action.run();
            return Boolean.TRUE;
        });
    }

    /** Has a value computed on the thread and waits for it; rethrows what the computation throws. */
    <T> T call(Supplier<T> action) {
        if (loop.inEventLoop()) {
            return action.get();
        }
        if (loop.isTerminated()) {
            // its state may be used from here then, by one at a time
            synchronized (this) {
                return action.get();
            }
        }
        FutureTask<T> task = new FutureTask<>(() -> {
            polling.onForeignTask();
            return action.get();
        });
        execute(task);
        return join(task);
    }

    /** Waits without giving in to interrupts: the caller relies on the action being over. */
    private <T> T join(FutureTask<T> task) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return task.get(CHECK_MILLIS, TimeUnit.MILLISECONDS);
                } catch (InterruptedException _) {
                    interrupted = true;
                } catch (TimeoutException _) {
                    if (loop.isTerminated()) {
                        // ended just now, without the task; runs once at most
                        synchronized (this) {
                            task.run();
                        }
                    }
                } catch (ExecutionException e) {
                    throw rethrown(e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static RuntimeException rethrown(@Nullable Throwable cause) {
        if (cause instanceof RuntimeException e) {
            return e;
        }
        if (cause instanceof Error e) {
            throw e;
        }
        return new IllegalStateException(cause);
    }

    /** Has the thread end after the tasks that it has; all sockets are closed then. */
    void startClosing() {
        var _ = group.shutdownGracefully(
                QUIET_MILLIS, TimeUnit.SECONDS.toMillis(SHUTDOWN_SECONDS), TimeUnit.MILLISECONDS);
    }

    /** Ends the thread after the tasks that it has, and waits for that. */
    @Override
    public void close() {
        startClosing();
        group.terminationFuture().awaitUninterruptibly(SHUTDOWN_SECONDS, TimeUnit.SECONDS);
    }
}
