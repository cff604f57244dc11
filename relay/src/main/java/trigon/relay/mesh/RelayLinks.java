package trigon.relay.mesh;

import java.net.Inet4Address;
import java.util.List;
import java.util.stream.Stream;
import trigon.relay.topology.NodeRecord;
import trigon.routing.LocalLink;
import trigon.routing.SharedSubnets;
import trigon.verbs.LinkKind;

/**
 * The links over which a node relays: software links, each by an address that distinguishes its cable. Where an
 * interface has link-local addresses alone, or is in one subnet with another one, that is its link-local IPv6 address.
 */
public final class RelayLinks {

    private RelayLinks() {}

    /** Those of a node, as many as it can announce. */
    public static List<LocalLink> of(List<LocalLink> all) {
        List<LocalLink> software =
                all.stream().filter(link -> link.kind() == LinkKind.SOFTWARE).toList();
        List<LocalLink> linkLocal = software.stream()
                .filter(link -> link.isLinkLocal()
                        && (SharedSubnets.isNeeded(link, software)
                                || software.stream().anyMatch(other -> isIpv4LinkLocalBeside(link, other))))
                .toList();
        Stream<LocalLink> others = software.stream()
                .filter(link -> !link.isLinkLocal()
                        && linkLocal.stream().noneMatch(instead -> isIpv4LinkLocalBeside(instead, link)));
        return Stream.concat(others, linkLocal.stream())
                .limit(NodeRecord.MAX_LINKS)
                .toList();
    }

    /** Mostly, all interfaces of a node that have one are in that subnet, at this end or the other. */
    private static boolean isIpv4LinkLocalBeside(LocalLink link, LocalLink other) {
        return other.address().address() instanceof Inet4Address address
                && address.isLinkLocalAddress()
                && other.interfaceName().equals(link.interfaceName());
    }
}
