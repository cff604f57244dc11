package trigon.routing;

import java.util.List;
import java.util.OptionalInt;

/**
 * A peer as it describes itself.
 *
 * @param nodeIndex its node's place in the configuration file; empty without one
 * @param links where it can be reached
 */
public record PeerDescription(OptionalInt nodeIndex, List<PeerLink> links) {

    public PeerDescription {
        links = List.copyOf(links);
    }
}
