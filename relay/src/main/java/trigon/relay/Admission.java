package trigon.relay;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import trigon.stream.circuit.CircuitKeys;
import trigon.stream.circuit.CircuitRequest;
import trigon.system.InterfaceAddress;

/**
 * The rules for circuits: whoever proves a key, to an address on a link of this node's. Thread-safe if
 * the rule is.
 *
 * @param links this node's addresses
 * @param keys what admits
 * @param rule what is asked besides
 */
record Admission(List<InterfaceAddress> links, CircuitKeys keys, RelayRule rule) {

    /** Why not; empty if it may be. */
    Optional<String> objection(CircuitRequest.Received received, InetAddress from) {
        InetAddress to = received.request().hops().getFirst().getAddress();
        if (!received.admitted()) {
            return Optional.of(
                    keys.hasClusterKey()
                            ? "the requester does not have the cluster key; give all nodes the same one"
                                    + " (TRIGON_CLUSTER_KEY_FILE)"
                            : "the requester is of another job, and there is no cluster key; give all nodes one"
                                    + " (TRIGON_CLUSTER_KEY_FILE)");
        }
        if (links.stream().anyMatch(link -> link.address().equals(to))) {
            return Optional.of(InterfaceAddress.text(to) + " is the relay's own address");
        }
        if (from(to).isEmpty()) {
            return Optional.of(InterfaceAddress.text(to) + " is not on any of the relay's links: " + links);
        }
        return rule.objection(from, to);
    }

    /** The own address to go on from, with its zone; empty if there is no link to it. */
    Optional<InetSocketAddress> from(InetAddress to) {
        return links.stream()
                .filter(link -> link.contains(to) && (!link.isLinkLocal() || rule.isHeard(link.address(), to)))
                .findFirst()
                .map(link -> new InetSocketAddress(zoned(link.address()), 0));
    }

    /** A neighbour as a socket bound to that own address connects to it. */
    static InetSocketAddress inZoneOf(InetSocketAddress own, InetSocketAddress neighbour) {
        int zone = own.getAddress() instanceof Inet6Address address ? address.getScopeId() : 0;
        return new InetSocketAddress(InterfaceAddress.inZone(neighbour.getAddress(), zone), neighbour.getPort());
    }

    /** One of the own addresses, as a socket is bound to it. */
    InetAddress zoned(InetAddress own) {
        return InterfaceAddress.inZone(own, rule.interfaceOf(own));
    }
}
