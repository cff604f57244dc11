package trigon.transport.connect;

import java.util.List;
import java.util.OptionalInt;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.ConnectionSecret;
import trigon.handshake.message.LinkAddress;
import trigon.routing.Bandwidth;
import trigon.routing.PeerDescription;
import trigon.routing.PeerLink;

/**
 * A connection's other end, as far as new paths to it need to be known.
 *
 * @param name the peer's, for logs
 * @param nodeIndex in the cluster's configuration
 * @param listeners where its process listens
 * @param mayBeOnThisNode whether it may be in this process's network namespace
 * @param connection the connection's name, by which the listening side's end is found
 * @param secret what both ends know
 * @param trafficClass NCCL's
 */
public record Counterpart(
        String name,
        OptionalInt nodeIndex,
        List<LinkAddress> listeners,
        boolean mayBeOnThisNode,
        ConnectionId connection,
        ConnectionSecret secret,
        int trafficClass) {

    public Counterpart {
        listeners = List.copyOf(listeners);
    }

    public PeerDescription description() {
        return description(nodeIndex, listeners, mayBeOnThisNode);
    }

    static PeerDescription description(OptionalInt nodeIndex, List<LinkAddress> listeners, boolean mayBeOnThisNode) {
        return new PeerDescription(
                nodeIndex,
                listeners.stream()
                        .map(link -> new PeerLink(
                                link.address(),
                                link.prefixLength(),
                                link.port(),
                                link.kinds(),
                                new Bandwidth(link.bandwidth())))
                        .toList(),
                mayBeOnThisNode);
    }
}
