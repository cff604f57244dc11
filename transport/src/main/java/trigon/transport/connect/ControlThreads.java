package trigon.transport.connect;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads that bring connections up: daemons named {@code trigon-control-<n>}, one per task that runs now, ended
 * when idle for a while.
 *
 * <p>Platform threads, since a verb blocks in C, for seconds where a peer's address does not resolve: a virtual thread
 * would keep its carrier for that long, of which there are as many as cores, and which may be the host program's. And
 * without a limit, since a task that waits for the peer's answer must not keep this node from giving its own.
 */
public final class ControlThreads {

    /** Long enough for those of a communicator, which come up one after the other. */
    private static final long IDLE_MILLIS = 200;

    private ControlThreads() {}

    /** No thread yet; {@link ExecutorService#close} waits for the tasks. What comes later runs in its caller. */
    public static ExecutorService open() {
        ThreadFactory threads = Thread.ofPlatform()
                .daemon()
                .inheritInheritableThreadLocals(false)
                .name("trigon-control-", 0)
                .factory();
        // a task that is late releases what others no longer can
        return new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                IDLE_MILLIS,
                TimeUnit.MILLISECONDS,
                new SynchronousQueue<>(),
                threads,
                (late, _) -> late.run());
    }
}
