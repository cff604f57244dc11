package trigon.transport.session;

import java.time.Duration;
import java.util.concurrent.Executor;
import trigon.nccl.GpuWrites;

/**
 * By what flushes go on whose queue pairs fail. Shared by all sessions; thread-safe.
 *
 * @param later runs what may block, {@link #PAUSE} later
 * @param patience so long a queue pair may fail again and again
 * @param gpuWrites flushes where the device cannot
 */
public record FlushRepairs(Executor later, Duration patience, GpuWrites gpuWrites) {

    /** Before a queue pair is made anew: a port that is down now is no better at once. */
    public static final Duration PAUSE = Duration.ofMillis(100);
}
