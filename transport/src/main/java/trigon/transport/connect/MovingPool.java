package trigon.transport.connect;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A few threads that have connections move, and more while those hang: a call of one device may take half a minute, in
 * which the connections of others are to move. Who has given it a task looks after it by {@link #relieve}. Thread-safe.
 */
public final class MovingPool extends ThreadPoolExecutor {

    /** As many as can run. */
    static final int USUAL = Math.clamp(Runtime.getRuntime().availableProcessors(), 2, 4);

    /** While calls hang; more than devices and queue pairs that are lost together. */
    public static final int MAX = 16;

    /** Tasks that had been done at the last look. Guarded by this. */
    private long done;

    MovingPool(long idleMillis, ThreadFactory threads) {
        // a task that is late releases what others no longer can
        super(
                USUAL,
                MAX,
                idleMillis,
                TimeUnit.MILLISECONDS,
                new LinkedBlockingQueue<>(),
                threads,
                (late, _) -> late.run());
        allowCoreThreadTimeOut(true);
    }

    /**
     * Adds a thread if tasks wait and none has been done since the last look. For who looks again after half a second,
     * as long as tasks wait.
     *
     * @return true if tasks wait
     */
    public synchronized boolean relieve() {
        if (getQueue().isEmpty()) {
            setCorePoolSize(USUAL);
            return false;
        }
        long before = done;
        done = getCompletedTaskCount();
        if (done == before && getCorePoolSize() < MAX) {
            setCorePoolSize(getCorePoolSize() + 1);
        }
        return true;
    }
}
