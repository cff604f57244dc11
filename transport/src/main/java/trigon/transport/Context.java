package trigon.transport;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A communicator's use of the plugin, and the handles of what was opened in it: NCCL drops half-open connections without
 * closing them when it aborts, so the context does when it goes. Thread-safe.
 *
 * @param commId NCCL's hash of the communicator; 0 where the API version has none: all communicators have this context then
 * @param trafficClass the application's, or {@link NetPlugin#TRAFFIC_CLASS_UNDEFINED}
 * @param listenComms handles of open listen comms
 * @param connecting handles of connections on their way up
 * @param comms handles of send and receive comms
 * @param failure the first that NCCL was told of on its data path; none where communicators share the context
 */
record Context(
        long commId,
        int trafficClass,
        Set<Long> listenComms,
        Set<Long> connecting,
        Set<Long> comms,
        AtomicReference<@Nullable CommunicatorFailure> failure) {

    Context(long commId, int trafficClass) {
        this(
                commId,
                trafficClass,
                ConcurrentHashMap.newKeySet(),
                ConcurrentHashMap.newKeySet(),
                ConcurrentHashMap.newKeySet(),
                new AtomicReference<>());
    }

    /** Takes note of a failure, unless there was one before, or it may be another communicator's. Whether it did. */
    boolean failsBy(CommunicatorFailure first) {
        return commId != 0 && failure.compareAndSet(null, first);
    }
}
