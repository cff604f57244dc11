package trigon.transport;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A communicator's use of the plugin, and the handles of what was opened in it: NCCL drops half-open connections without
 * closing them when it aborts, so the context does when it goes. Thread-safe.
 *
 * @param commId NCCL's hash of the communicator; 0 where the API version has none: all communicators have this context then
 * @param trafficClass the application's, or {@link NetPlugin#TRAFFIC_CLASS_UNDEFINED}
 * @param listenComms handles of open listen comms
 * @param connecting handles of connections on their way up
 * @param comms handles of send and receive comms
 * @param failed whether NCCL has been told of a failure of one of them
 */
record Context(
        long commId,
        int trafficClass,
        Set<Long> listenComms,
        Set<Long> connecting,
        Set<Long> comms,
        AtomicBoolean failed) {

    Context(long commId, int trafficClass) {
        this(
                commId,
                trafficClass,
                ConcurrentHashMap.newKeySet(),
                ConcurrentHashMap.newKeySet(),
                ConcurrentHashMap.newKeySet(),
                new AtomicBoolean());
    }

    /** Whether the first failure of one of its comms is that of all of them; true once. */
    boolean failsWithIt() {
        return commId != 0 && failed.compareAndSet(false, true);
    }
}
