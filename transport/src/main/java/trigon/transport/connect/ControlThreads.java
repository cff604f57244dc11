package trigon.transport.connect;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads that do what is not NCCL's to wait for: daemons, ended when idle for a while.
 *
 * <p>Platform threads, since a verb blocks in C, for seconds where a peer's address does not resolve: a virtual thread
 * would keep its carrier for that long, of which there are as many as cores, and which may be the host program's.
 *
 * @param control brings connections up: {@code trigon-control-<n>}, one for each task that runs now. Without a limit,
 *     since a task that waits for the peer's answer must not keep this node from giving its own
 * @param moves has connections go on over other paths, at either end: {@code trigon-failover-<n>}, a few, since a
 *     cable takes hundreds of connections with it. No task of it waits for a peer, so one end's do not keep the other's
 *     back
 * @param flushing repairs flushes to GPUs: at most {@value #MAX_FLUSHING}, {@code trigon-flush-<n>}. A driver that
 *     hangs holds up no failover, nor the end
 */
public record ControlThreads(ExecutorService control, MovingPool moves, ExecutorService flushing)
        implements AutoCloseable {

    static final int MAX_FLUSHING = 2;

    /** Long enough for those of a communicator, which come up one after the other. */
    private static final long IDLE_MILLIS = 200;

    public static ControlThreads open() {
        return new ControlThreads(
                pool("trigon-control-", 0, Integer.MAX_VALUE, new SynchronousQueue<>()),
                new MovingPool(IDLE_MILLIS, threads("trigon-failover-")),
                pool("trigon-flush-", MAX_FLUSHING, MAX_FLUSHING, new LinkedBlockingQueue<>()));
    }

    /** Those that have connections go on over other paths. */
    public ExecutorService moving() {
        return moves;
    }

    /** {@link MovingPool#relieve}. */
    public boolean relieve() {
        return moves.relieve();
    }

    private static ExecutorService pool(String name, int core, int most, BlockingQueue<Runnable> queue) {
        // a task that is late releases what others no longer can
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                core, most, IDLE_MILLIS, TimeUnit.MILLISECONDS, queue, threads(name), (late, _) -> late.run());
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    private static ThreadFactory threads(String name) {
        return Thread.ofPlatform()
                .daemon()
                .inheritInheritableThreadLocals(false)
                .name(name, 0)
                .factory();
    }

    /**
     * Waits for all tasks, but for repairs of flushes: these use nothing of a connection that is closed. What comes
     * later runs in its caller.
     */
    @Override
    public void close() {
        flushing.shutdown();
        moves.close();
        control.close();
    }
}
