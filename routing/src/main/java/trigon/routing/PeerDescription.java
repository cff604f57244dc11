package trigon.routing;

import java.util.List;
import java.util.OptionalInt;

/**
 * A peer as it describes itself.
 *
 * @param nodeIndex its node's place in the configuration file; empty without one
 * @param links where it can be reached
 * @param mayBeOnThisNode whether it may be a process of this node: else an address that both have is not the peer's
 */
public record PeerDescription(OptionalInt nodeIndex, List<PeerLink> links, boolean mayBeOnThisNode) {

    public PeerDescription {
        links = List.copyOf(links);
    }

    /** One of which nobody knows whether it is on this node. */
    public PeerDescription(OptionalInt nodeIndex, List<PeerLink> links) {
        this(nodeIndex, links, true);
    }
}
