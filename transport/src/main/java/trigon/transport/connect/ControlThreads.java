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
 * @param connecting brings connections up at the connecting side: {@code trigon-connect-<n>}, at most
 *     {@value #MAX_CONNECTING} at once. More would be in each other's way until their time is over: NCCL asks for
 *     hundreds at once, and the time of each begins with its task
 * @param control does the same at the listening side, and more: {@code trigon-control-<n>}, one for each task that runs
 *     now. Without a limit, since what this node waits for must not keep it from giving others their answers
 * @param moves has connections go on over other paths, at either end: {@code trigon-failover-<n>}, a few, since a
 *     cable takes hundreds of connections with it. No task of it waits for a peer, so one end's do not keep the other's
 *     back
 * @param flushing repairs flushes to GPUs: at most {@value #MAX_FLUSHING}, {@code trigon-flush-<n>}. A driver that
 *     hangs holds up no failover, nor the end
 */
public record ControlThreads(
        ExecutorService connecting, ExecutorService control, MovingPool moves, ExecutorService flushing)
        implements AutoCloseable {

    /** Few enough for eight processes of a node to be below a listener's limit of strangers from one address. */
    static final int MAX_CONNECTING = 32;

    static final int MAX_FLUSHING = 2;

    /** Long enough for those of a communicator, which come up one after the other. */
    private static final long IDLE_MILLIS = 200;

    public static ControlThreads open() {
        return new ControlThreads(
                pool("trigon-connect-", MAX_CONNECTING, MAX_CONNECTING, new LinkedBlockingQueue<>()),
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
        connecting.close();
        control.close();
    }
}
