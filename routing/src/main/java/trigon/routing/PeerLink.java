package trigon.routing;

import java.net.InetAddress;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import trigon.system.InterfaceAddress;
import trigon.verbs.LinkKind;

/**
 * An address at which a peer says it can be reached.
 *
 * @param address the peer's
 * @param prefixLength of the peer's subnet; not necessarily ours
 * @param tcpPort of the peer's listener, 1 to 65535
 * @param kinds what serves the address there; not empty
 * @param bandwidth of the peer's link
 */
public record PeerLink(InetAddress address, int prefixLength, int tcpPort, Set<LinkKind> kinds, Bandwidth bandwidth) {

    /** By address; all further criteria only make the order a total one. */
    public static final Comparator<PeerLink> BY_ADDRESS =
            Comparator.comparing(PeerLink::interfaceAddress).thenComparingInt(PeerLink::tcpPort);

    public PeerLink {
        address = new InterfaceAddress(address, prefixLength).address();
        if (tcpPort < 1 || tcpPort > 65535) {
            throw new IllegalArgumentException("TCP port " + tcpPort + " is not in 1..65535");
        }
        if (kinds.isEmpty()) {
            throw new IllegalArgumentException("nothing serves " + InterfaceAddress.text(address));
        }
        kinds = Set.copyOf(EnumSet.copyOf(kinds));
    }

    /** A link of a peer that has not said how fast it is. */
    public PeerLink(InetAddress address, int prefixLength, int tcpPort, Set<LinkKind> kinds) {
        this(address, prefixLength, tcpPort, kinds, Bandwidth.NOT_TOLD);
    }

    /** The address with its prefix. */
    public InterfaceAddress interfaceAddress() {
        return new InterfaceAddress(address, prefixLength);
    }

    /** For example {@code 10.0.12.2/24 (RDMA, TCP)}. */
    @Override
    public String toString() {
        return interfaceAddress()
                + kinds.stream().sorted().map(LocalLink::word).collect(Collectors.joining(", ", " (", ")"));
    }
}
