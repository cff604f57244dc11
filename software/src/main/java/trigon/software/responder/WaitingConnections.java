package trigon.software.responder;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Connections that name a queue pair and came before it knows its peer. Used under the queue pair's lock. A flood
 * of connections keeps the peer out only if all of it comes from the peer's own address.
 */
final class WaitingConnections {

    /** One of them is the peer's. */
    private static final int LIMIT = 8;

    private final RespondingQueuePair queuePair;
    private final List<InboundConnection> connections = new ArrayList<>();

    WaitingConnections(RespondingQueuePair queuePair) {
        this.queuePair = queuePair;
    }

    /** Adds one; if they are too many, the newest of the busiest address goes. */
    void keep(InboundConnection candidate) {
        candidate.keep();
        connections.add(candidate);
        if (connections.size() > LIMIT) {
            InboundConnection last = newestOfTheBusiest();
            connections.remove(last);
            last.reject("too many connections wait for " + queuePair);
        }
    }

    /**
     * The newest connection of the address with the most waiting ones: those from elsewhere do not take the peer's
     * place, though nobody knows yet who is who.
     */
    private InboundConnection newestOfTheBusiest() {
        Map<InetAddress, Long> counts =
                connections.stream().collect(Collectors.groupingBy(InboundConnection::address, Collectors.counting()));
        long most = Collections.max(counts.values());
        return connections.reversed().stream()
                .filter(one -> counts.getOrDefault(one.address(), 0L) == most)
                .findFirst()
                .orElseThrow();
    }

    /** All of them, in the order in which they came. They do not wait any more. */
    List<InboundConnection> takeAll() {
        List<InboundConnection> taken = List.copyOf(connections);
        connections.clear();
        return taken;
    }
}
