package trigon.routing;

import java.net.InetAddress;
import java.util.Set;
import trigon.config.cluster.NicReference;

/**
 * The NIC that the configuration file prescribes for a peer, as found on this machine.
 *
 * @param reference the entry of {@code peers}
 * @param addresses the NIC's; only links with one of them are used
 */
public record NicOverride(NicReference reference, Set<InetAddress> addresses) {

    public NicOverride {
        addresses = Set.copyOf(addresses);
    }

    /** Returns whether a path to that peer may begin with that link. */
    public boolean allows(LocalLink link) {
        return addresses.contains(link.address().address());
    }
}
