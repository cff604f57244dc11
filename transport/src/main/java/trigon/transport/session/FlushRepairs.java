package trigon.transport.session;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import trigon.nccl.GpuWrites;
import trigon.transport.path.Link;

/** By what flushes go on whose queue pairs fail. Shared by all sessions; thread-safe. */
public final class FlushRepairs {

    /** Before a queue pair is made anew: a port that is down now is no better at once. */
    public static final Duration PAUSE = Duration.ofMillis(100);

    private final Executor later;
    private final Executor threads;
    private final Duration patience;
    private final GpuWrites gpuWrites;
    private final Map<Link, FlushLog> logs = new ConcurrentHashMap<>();

    /**
     * By these.
     *
     * @param later runs on an event loop what is brief, {@link #PAUSE} later
     * @param threads runs what may block
     * @param patience so long a queue pair may fail again and again, and so long a repair may take
     * @param gpuWrites flushes where the device cannot
     */
    public FlushRepairs(Executor later, Executor threads, Duration patience, GpuWrites gpuWrites) {
        this.later = later;
        this.threads = threads;
        this.patience = patience;
        this.gpuWrites = gpuWrites;
    }

    Duration patience() {
        return patience;
    }

    GpuWrites gpuWrites() {
        return gpuWrites;
    }

    /** What is told of the flushes over a link. */
    FlushLog log(Link link) {
        return logs.computeIfAbsent(link, FlushLog::new);
    }

    /**
     * Has a thread do something that may block, {@link #PAUSE} later. For the data path: nothing is thrown.
     *
     * @param impossible hears why no thread can be had for it
     * @return false if it will not be done
     */
    boolean begin(Runnable step, Consumer<Throwable> impossible) {
        try {
            later.execute(() -> hand(step, impossible));
            return true;
        } catch (RuntimeException | Error _) { // the plugin is closed, or there is no memory: the session says so
            return false;
        }
    }

    private void hand(Runnable step, Consumer<Throwable> impossible) {
        try {
            threads.execute(step);
        } catch (RuntimeException | Error e) {
            impossible.accept(e);
        }
    }
}
