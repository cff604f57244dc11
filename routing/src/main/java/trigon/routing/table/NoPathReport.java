package trigon.routing.table;

import java.net.InetAddress;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import trigon.routing.DiscoveredLinks.NicOverride;
import trigon.routing.LocalLink;
import trigon.routing.PeerLink;
import trigon.routing.SharedSubnets;
import trigon.system.InterfaceAddress;
import trigon.verbs.LinkKind;

/**
 * Explains why there is no path to a peer.
 *
 * @param peer its name
 * @param links this machine's
 * @param remotes the peer's
 * @param ownAddresses those of the peer's that this node has itself
 * @param override the NIC prescribed for the peer
 * @param sources for each of the peer's, the address from which the kernel would send to it
 * @param downAtInit what could not be used when the process began
 */
record NoPathReport(
        String peer,
        List<LocalLink> links,
        List<PeerLink> remotes,
        Set<PeerLink> ownAddresses,
        Optional<NicOverride> override,
        Map<PeerLink, Optional<InetAddress>> sources,
        List<String> downAtInit) {

    String text() {
        StringBuilder text = new StringBuilder("no path to " + peer + ", which is at ");
        text.append(remotes.isEmpty() ? "no address" : join(remotes)).append(". This node has ");
        text.append(links.isEmpty() ? "no link" : join(links)).append(".");
        if (!ownAddresses.isEmpty()) {
            return text.append(sameAddresses()).toString();
        }
        links.stream()
                .filter(link -> !link.isLinkLocal() || SharedSubnets.isNeeded(link, links))
                .collect(Collectors.groupingBy(LocalLink::address, TreeMap::new, Collectors.toList()))
                .forEach((address, sharing) ->
                        text.append(" %s: %s.".formatted(InterfaceAddress.text(address.address()), why(sharing))));
        sources.entrySet().stream()
                .filter(entry -> !entry.getKey().interfaceAddress().isLinkLocal())
                .sorted(Map.Entry.comparingByKey(PeerLink.BY_ADDRESS))
                .forEach(entry -> text.append(route(entry.getKey().address(), entry.getValue())));
        if (!downAtInit.isEmpty()) {
            text.append(" Was down at init: ").append(join(downAtInit)).append("; check cables and interfaces.");
        }
        return text.append(advice()).toString();
    }

    private String sameAddresses() {
        return (" The peer is on another node and has the same address, %s: both processes are in a network of their"
                        + " own, as of containers (Docker's default bridge). Give them the hosts' network: docker run"
                        + " --network=host, or hostNetwork: true in Kubernetes.")
                .formatted(ownAddresses.stream()
                        .map(each -> InterfaceAddress.text(each.address()))
                        .sorted()
                        .collect(Collectors.joining(", ")));
    }

    /** The reason, for links with the same address. */
    private String why(List<LocalLink> sharing) {
        LocalLink link = sharing.getFirst();
        if (override.isPresent() && !override.get().allows(link)) {
            return "not the NIC that %s prescribes, which is %s"
                    .formatted(
                            override.get().reference().source(), override.get().reference());
        }
        if (remotes.isEmpty()) {
            return "there is nothing to reach";
        }
        Set<LinkKind> kinds = EnumSet.noneOf(LinkKind.class);
        sharing.forEach(each -> kinds.add(each.kind()));
        return remotes.stream()
                .map(remote -> why(link.address(), kinds, remote))
                .collect(Collectors.joining(", "));
    }

    private static String why(InterfaceAddress here, Set<LinkKind> kinds, PeerLink remote) {
        String there = InterfaceAddress.text(remote.address());
        if (here.isLinkLocal() || remote.interfaceAddress().isLinkLocal()) {
            return here.isLinkLocal() && remote.interfaceAddress().isLinkLocal()
                    ? "%s is link-local, too, but there it is %s and here %s"
                            .formatted(there, words(remote.kinds()), words(kinds))
                    : "one of it and %s is link-local".formatted(there);
        }
        boolean inOurs = here.contains(remote.address());
        boolean inTheirs = remote.interfaceAddress().contains(here.address());
        if (inOurs && inTheirs) {
            return "%s is in its subnet, but there it is %s and here %s"
                    .formatted(there, words(remote.kinds()), words(kinds));
        }
        if (inOurs) {
            return "%s is in its subnet, but it is not in the peer's %s".formatted(there, remote.interfaceAddress());
        }
        if (inTheirs) {
            return "it is in the peer's %s, but that is not in its own subnet /%d"
                    .formatted(remote.interfaceAddress(), here.prefixLength());
        }
        return "%s is not in its subnet /%d".formatted(there, here.prefixLength());
    }

    private String route(InetAddress destination, Optional<InetAddress> source) {
        String there = InterfaceAddress.text(destination);
        if (source.isEmpty()) {
            return " The kernel has no route to " + there + ".";
        }
        boolean ours = links.stream().anyMatch(link -> link.address().address().equals(source.get()));
        return " The kernel would send to %s from %s, %s."
                .formatted(
                        there,
                        InterfaceAddress.text(source.get()),
                        ours ? "which is not allowed or not of the peer's kind" : "which is none of these links");
    }

    private String advice() {
        String nic = override.isPresent() ? ", or change the entry of peers" : "";
        return " Give both nodes a link with addresses in one subnet (same prefix) and of one kind, allow both kinds"
                + " with links auto, or add a route" + nic + ".";
    }

    private static String words(Set<LinkKind> kinds) {
        return kinds.stream().sorted().map(LocalLink::word).collect(Collectors.joining(" and "));
    }

    private static String join(List<?> parts) {
        return parts.stream().map(Object::toString).collect(Collectors.joining(", "));
    }
}
