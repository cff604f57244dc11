package trigon.software;

import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The event loop thread of a provider. It owns every connection, key table and queue pair state; other threads have
 * their work done on it.
 */
final class DeviceThread implements AutoCloseable {

    private static final long SHUTDOWN_SECONDS = 5;
    /** Without any, Netty ends a loop before the selector has closed its sockets, and a peer finds a dead listener. */
    private static final long QUIET_MILLIS = 20;

    private static final long CHECK_MILLIS = 100;

    private final MultiThreadIoEventLoopGroup group;
    private final EventLoop loop;

    DeviceThread(String name) {
        ThreadFactory factory = task -> daemon(task, name);
        group = new MultiThreadIoEventLoopGroup(1, factory, NioIoHandler.newFactory());
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
        FutureTask<T> task = new FutureTask<>(action::get);
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

    /** Ends the thread after the tasks that it has; all sockets are closed then. */
    @Override
    public void close() {
        group.shutdownGracefully(QUIET_MILLIS, TimeUnit.SECONDS.toMillis(SHUTDOWN_SECONDS), TimeUnit.MILLISECONDS)
                .awaitUninterruptibly(SHUTDOWN_SECONDS, TimeUnit.SECONDS);
    }
}
