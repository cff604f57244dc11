package trigon.routing.table;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.cluster.ClusterConfig;
import trigon.config.cluster.NodeConfig;
import trigon.config.setting.RoutedRdma;
import trigon.routing.Bandwidth;
import trigon.routing.DiscoveredLinks;
import trigon.routing.DiscoveredLinks.NicOverride;
import trigon.routing.LeftOut;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerDescription;
import trigon.routing.PeerLink;
import trigon.routing.Reason;
import trigon.routing.RouteLookup;
import trigon.routing.SharedSubnets;
import trigon.system.InterfaceAddress;
import trigon.verbs.LinkKind;

/**
 * Finds the paths to a peer.
 *
 * <p>Immutable, and thread-safe if the route lookup is. The result depends on what the links and the peer are, not on
 * the order in which they are listed.
 */
public final class RoutingTable {

    private final List<LocalLink> links;
    private final RouteLookup kernel;
    private final Map<Integer, NicOverride> overrides;
    private final List<String> nodeNames;
    private final List<String> downAtInit;
    private final boolean listed;

    /**
     * A table.
     *
     * @param links this machine's
     * @param overrides the only NIC to use for a peer, by the peer's node index
     * @param nodeNames of the cluster, by node index, for messages; empty if there is none
     */
    public RoutingTable(
            List<LocalLink> links, RouteLookup kernel, Map<Integer, NicOverride> overrides, List<String> nodeNames) {
        this(links, kernel, overrides, nodeNames, List.of(), false);
    }

    private RoutingTable(
            List<LocalLink> links,
            RouteLookup kernel,
            Map<Integer, NicOverride> overrides,
            List<String> nodeNames,
            List<String> downAtInit,
            boolean listed) {
        this.listed = listed;
        this.downAtInit = List.copyOf(downAtInit);
        this.links = links.stream().sorted(LocalLink.BY_RANK).toList();
        this.kernel = kernel;
        this.overrides = Map.copyOf(overrides);
        this.nodeNames = List.copyOf(nodeNames);
    }

    /** The table of these links under these settings. */
    public static RoutingTable of(PluginConfig config, DiscoveredLinks discovered, RouteLookup kernel) {
        List<String> names = config.cluster().map(ClusterConfig::nodes).orElse(List.of()).stream()
                .map(NodeConfig::name)
                .toList();
        List<String> down = discovered.leftOut().stream()
                .filter(each -> each.cause().isDown())
                .map(LeftOut::name)
                .distinct()
                .toList();
        boolean asked = config.value(Settings.ROUTES_RDMA) == RoutedRdma.ON;
        return new RoutingTable(
                discovered.links(),
                asked ? kernel.ignoringGateways() : kernel,
                discovered.overrides(),
                names,
                down,
                config.thisNode().isPresent());
    }

    /** Returns whether the configuration prescribes a NIC for that peer. */
    public boolean isPrescribed(PeerDescription peer) {
        return overrideFor(peer).isPresent();
    }

    /** This machine's links, by rank. */
    public List<LocalLink> links() {
        return links;
    }

    /**
     * The paths to a peer, in the order in which they should be tried. Without a list from the user, those that carry
     * most go first. Then come those within one subnet, the longest prefix first, RDMA before software, then by the
     * user's list, or in an order that both ends have in common; after them those along the kernel's routes, and those
     * between link-local addresses, of which some may lead nowhere. Where the subnet of an interface here and of the
     * peer does not say which cable leads there, link-local addresses go before it. If the configuration prescribes a
     * NIC for this peer,
     * only that one's.
     *
     * @return at least one path
     * @throws NoPathException if there is none
     */
    public List<Path> pathsTo(PeerDescription peer) {
        return pathsTo(peer, Set.of());
    }

    /**
     * The same, with some of the links before others that lead to the peer as directly.
     *
     * @throws NoPathException if there is none
     */
    public List<Path> pathsTo(PeerDescription peer, Set<LocalLink> preferred) {
        String name = nameOf(peer);
        Optional<NicOverride> override = overrideFor(peer);
        List<LocalLink> candidates = links.stream()
                .filter(link -> override.isEmpty() || override.get().allows(link))
                .toList();
        List<PeerLink> remotes =
                peer.links().stream().distinct().sorted(PeerLink.BY_ADDRESS).toList();
        Map<PeerLink, Optional<InetAddress>> sources = new HashMap<>();
        List<Path> paths = new ArrayList<>();
        Set<PeerLink> ownAddresses = ownAddresses(peer);
        remotes.forEach(remote -> sources.put(remote, sourceFor(remote)));
        for (PeerLink remote : remotes) {
            for (LocalLink local : candidates) {
                if (remote.kinds().contains(local.kind()) && !ownAddresses.contains(remote)) {
                    reason(local, remote, sources)
                            .map(why -> override.<Reason>map(nic -> new Reason.Prescribed(nic.reference(), why))
                                    .orElse(why))
                            .ifPresent(why -> paths.add(new Path(name, local, remote, local.kind(), why)));
                }
            }
        }
        if (paths.isEmpty()) {
            throw new NoPathException(
                    new NoPathReport(name, links, remotes, ownAddresses, override, sources, downAtInit).text()
                            + sentence(withheld(remotes, candidates)),
                    !downAtInit.isEmpty());
        }
        return paths.stream().sorted(PathOrder.of(paths, listed, preferred)).toList();
    }

    /**
     * Returns whether a route over one relay may carry more than a path, for all that this node knows: the first of its
     * links is a software link without a list from the user, and that much faster.
     */
    public boolean mayBeFasterByRelays(Path path) {
        return !listed
                && path.kind() == LinkKind.SOFTWARE
                && links.stream()
                        .filter(link -> link.kind() == LinkKind.SOFTWARE && !link.isLinkLocal())
                        .anyMatch(link ->
                                Bandwidth.ofRelayed(link.countedMbps(), 1).exceeds(path.bandwidth()));
    }

    private Optional<InetAddress> sourceFor(PeerLink remote) {
        return remote.interfaceAddress().isLinkLocal()
                ? Optional.empty() // every interface has a route to it
                : kernel.sourceFor(remote.address());
    }

    /** Own addresses of a peer on another node: the addresses that this node has, too. They lead back to this node. */
    private Set<PeerLink> ownAddresses(PeerDescription peer) {
        return peer.mayBeOnThisNode()
                ? Set.of()
                : peer.links().stream()
                        .filter(remote -> links.stream()
                                .anyMatch(own -> own.address().address().equals(remote.address())))
                        .collect(Collectors.toSet());
    }

    private Optional<Reason> reason(LocalLink local, PeerLink remote, Map<PeerLink, Optional<InetAddress>> sources) {
        if (local.isLinkLocal() || remote.interfaceAddress().isLinkLocal()) {
            boolean both = local.isLinkLocal() && remote.interfaceAddress().isLinkLocal();
            return both ? linkLocal(local, sources) : Optional.empty();
        }
        OptionalInt prefix = commonPrefix(local, remote);
        if (prefix.isPresent()) {
            return Optional.of(new Reason.SameSubnet(prefix.getAsInt()));
        }
        return sources.getOrDefault(remote, Optional.empty())
                .filter(address -> address.equals(local.address().address()))
                .filter(own -> !isWithheldFromRdma(local, remote, own))
                .map(_ -> new Reason.KernelRoute());
    }

    /** None where another address of the interface is in a subnet of the peer's, and distinguishes the cable. */
    private Optional<Reason> linkLocal(LocalLink local, Map<PeerLink, Optional<InetAddress>> sources) {
        List<LocalLink> beside = links.stream()
                .filter(other -> !other.isLinkLocal() && other.interfaceName().equals(local.interfaceName()))
                .toList();
        if (beside.isEmpty()) {
            return Optional.of(new Reason.LinkLocal(0));
        }
        OptionalInt ambiguous = beside.stream()
                .flatMapToInt(own -> sources.keySet().stream()
                        .filter(remote -> isAmbiguous(own, remote, sources))
                        .flatMapToInt(remote -> commonPrefix(own, remote).stream()))
                .max();
        return ambiguous.stream()
                .mapToObj(Reason.LinkLocal::new)
                .map(Reason.class::cast)
                .findFirst();
    }

    /**
     * Returns whether a subnet does not say which cable leads to the peer: this node or the peer has several addresses
     * in it, or the kernel would send from another interface.
     */
    private boolean isAmbiguous(LocalLink own, PeerLink remote, Map<PeerLink, Optional<InetAddress>> sources) {
        boolean severalThere = sources.keySet().stream()
                .anyMatch(other -> !other.address().equals(remote.address())
                        && remote.interfaceAddress().contains(other.address())
                        && other.interfaceAddress().contains(remote.address()));
        boolean elsewhere = sources.getOrDefault(remote, Optional.empty())
                .filter(source -> links.stream()
                        .noneMatch(link -> link.interfaceName().equals(own.interfaceName())
                                && link.address().address().equals(source)))
                .isPresent();
        return severalThere || elsewhere || SharedSubnets.isShared(own, links);
    }

    /** Returns whether only the settings keep RDMA from a link: it leads to the peer's link through a gateway. */
    public boolean isWithheldFromRdma(LocalLink local, PeerLink remote) {
        return sourceFor(remote)
                .filter(own -> commonPrefix(local, remote).isEmpty() && isWithheldFromRdma(local, remote, own))
                .isPresent();
    }

    private boolean isWithheldFromRdma(LocalLink local, PeerLink remote, InetAddress source) {
        return local.kind() == LinkKind.RDMA
                && remote.kinds().contains(LinkKind.RDMA)
                && source.equals(local.address().address())
                && kernel.hasGateway(source, remote.address());
    }

    /** The routes to a peer that would carry RDMA, too, if the settings had it so: for a message; empty without any. */
    public String withheldFromRdma(PeerDescription peer) {
        Optional<NicOverride> override = overrideFor(peer);
        return withheld(
                peer.links(),
                links.stream()
                        .filter(link -> override.isEmpty() || override.get().allows(link))
                        .toList());
    }

    private String withheld(List<PeerLink> remotes, List<LocalLink> candidates) {
        String addresses = remotes.stream()
                .filter(remote -> candidates.stream().anyMatch(local -> isWithheldFromRdma(local, remote)))
                .map(remote -> InterfaceAddress.text(remote.address()))
                .distinct()
                .collect(Collectors.joining(", "));
        return addresses.isEmpty()
                ? ""
                : "the route to %s has a gateway; if switches route, set routes.rdma: on (TRIGON_ROUTES_RDMA)"
                        .formatted(addresses);
    }

    private static String sentence(String reason) {
        return reason.isEmpty() ? "" : " RDMA is not used: " + reason + ".";
    }

    /**
     * The shorter prefix, if each end is in the other's subnet: with unequal prefixes, one end may take the other for a
     * neighbour that answers through a gateway.
     */
    private static OptionalInt commonPrefix(LocalLink local, PeerLink remote) {
        boolean neighbours = local.address().contains(remote.address())
                && remote.interfaceAddress().contains(local.address().address());
        return neighbours
                ? OptionalInt.of(Math.min(local.address().prefixLength(), remote.prefixLength()))
                : OptionalInt.empty();
    }

    private Optional<NicOverride> overrideFor(PeerDescription peer) {
        return peer.nodeIndex().isPresent()
                ? Optional.ofNullable(overrides.get(peer.nodeIndex().getAsInt()))
                : Optional.empty();
    }

    private String nameOf(PeerDescription peer) {
        if (peer.nodeIndex().isEmpty()) {
            return "peer";
        }
        int index = peer.nodeIndex().getAsInt();
        return index >= 0 && index < nodeNames.size() ? nodeNames.get(index) : "node " + index;
    }
}
