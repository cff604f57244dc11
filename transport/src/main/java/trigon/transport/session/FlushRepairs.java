package trigon.transport.session;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import trigon.nccl.GpuWrites;
import trigon.system.NanoClock;
import trigon.system.RareMessage;
import trigon.transport.path.Link;

/** Services for flushes whose READs fail. Shared by all sessions; thread-safe. */
public final class FlushRepairs {

    /** Before a queue pair is made anew: a port that is down now is no better at once. */
    public static final Duration PAUSE = Duration.ofMillis(100);

    private static final Logger log = LoggerFactory.getLogger(FlushRepairs.class);

    final Executor later;
    final Executor threads;
    final long patienceNanos;
    final GpuWrites gpuWrites;
    private final Map<Map.Entry<Link, Level>, RareMessage> messages = new ConcurrentHashMap<>();

    /**
     * Takes what repairs need.
     *
     * @param later runs on an event loop what is brief, {@link #PAUSE} later
     * @param threads runs what may block
     * @param patience limit of the time in which READs fail again and again, and of a single repair
     * @param gpuWrites flushes where the device cannot
     */
    public FlushRepairs(Executor later, Executor threads, Duration patience, GpuWrites gpuWrites) {
        this.later = later;
        this.threads = threads;
        this.gpuWrites = gpuWrites;
        patienceNanos = patience.toNanos();
    }

    /** Logs once for all connections over a link, since a cut cable takes all of them. */
    void log(Link link, Level level, String text) {
        messages.computeIfAbsent(Map.entry(link, level), _ -> new RareMessage(log, level, NanoClock.SYSTEM))
                .log(text);
    }
}
