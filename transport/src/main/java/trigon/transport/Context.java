package trigon.transport;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A communicator's use of the plugin, and the handles of what was opened in it: NCCL drops half-open connections without
 * closing them when it aborts, so the context does when it goes. Thread-safe.
 *
 * @param trafficClass the application's, or {@link NetPlugin#TRAFFIC_CLASS_UNDEFINED}
 * @param listenComms handles of open listen comms
 * @param connecting handles of connections on their way up
 * @param comms handles of send and receive comms
 */
record Context(int trafficClass, Set<Long> listenComms, Set<Long> connecting, Set<Long> comms) {

    Context(int trafficClass) {
        this(trafficClass, ConcurrentHashMap.newKeySet(), ConcurrentHashMap.newKeySet(), ConcurrentHashMap.newKeySet());
    }
}
