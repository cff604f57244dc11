package trigon.relay.mesh;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import trigon.relay.table.NetworkMap;
import trigon.relay.table.RouteTable;
import trigon.relay.topology.Node;
import trigon.relay.topology.Nodes;
import trigon.relay.topology.Route;
import trigon.relay.topology.Shape;
import trigon.relay.topology.TableRoutes;
import trigon.routing.Bandwidth;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerLink;
import trigon.routing.Reason;
import trigon.routing.RouteLookup;
import trigon.stream.circuit.CircuitKeys;
import trigon.stream.circuit.CircuitRoutes;
import trigon.system.InterfaceAddress;
import trigon.verbs.LinkKind;

/** Routes through relays, for connections to come, and for the TCP connections that they are made of. Any thread. */
final class MeshRoutes implements CircuitRoutes {

    /** That a message has in a row. */
    private static final int MAX_NAMES = 16;

    private static final int MAX_REMEMBERED = 4096;

    /**
     * A path in question.
     *
     * @param routes with these ends; at least one
     */
    private record Candidate(LocalLink local, PeerLink remote, List<Route> routes) {

        Route route() {
            return routes.getFirst();
        }

        /** Relays of all routes, in each place: for example {@code b or d}. */
        List<String> names() {
            return IntStream.range(0, route().names().size())
                    .mapToObj(place -> routes.stream()
                            .map(route -> route.names().get(place))
                            .distinct()
                            .sorted()
                            .limit(MAX_NAMES)
                            .collect(Collectors.joining(" or ")))
                    .toList();
        }

        Path path(String peer) {
            Reason why = new Reason.Relayed(names(), bandwidth(route()), route().rdmaHops());
            return new Path(peer, local, remote, LinkKind.SOFTWARE, why);
        }
    }

    private final List<LocalLink> links;
    private final RouteLookup kernel;
    private final CircuitKeys keys;
    private final Supplier<Nodes> nodes;

    /** Peers' latest word of their links, by the address of each. */
    private final Map<InetAddress, Node> said = Collections.synchronizedMap(new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<InetAddress, Node> eldest) {
            return size() > MAX_REMEMBERED;
        }
    });

    private final InterfaceAddress first;
    private final Turns turns;
    private final TableRoutes table;
    private final RelayProcesses relays;

    /**
     * Over these links, of which there is at least one.
     *
     * @param begin where connections begin to share routes; see {@link Turns}
     */
    MeshRoutes(
            List<LocalLink> links,
            RouteLookup kernel,
            CircuitKeys keys,
            Supplier<Nodes> nodes,
            RelayProcesses relays,
            int begin) {
        turns = new Turns(begin);
        table = new TableRoutes(nodes);
        this.relays = relays;
        this.links = List.copyOf(links);
        this.kernel = kernel;
        this.keys = keys;
        this.nodes = nodes;
        first = links.stream()
                .map(LocalLink::address)
                .min(Comparator.naturalOrder())
                .orElseThrow();
    }

    /**
     * Best first. Connections to a peer share the routes that the table has for it.
     *
     * @param connection its number, the same whenever it asks
     */
    List<Path> pathsTo(String peer, List<PeerLink> remotes, long connection) {
        List<PeerLink> software = remotes.stream()
                .filter(remote -> remote.kinds().contains(LinkKind.SOFTWARE))
                .toList();
        if (software.isEmpty()) {
            return List.of();
        }
        Node said = node(software);
        software.forEach(remote -> this.said.put(remote.address(), said));
        Map<Object, List<Route>> byEnds = new LinkedHashMap<>();
        for (Route route : table.to(said, turns.turn(first, remotes, connection))) {
            byEnds.computeIfAbsent(List.of(route.local(), route.remote()), _ -> new ArrayList<>())
                    .add(route);
        }
        return byEnds.values().stream()
                .flatMap(routes -> candidate(software, routes).stream())
                .sorted(Comparator.comparing((Candidate each) -> bandwidth(each.route()))
                        .reversed())
                .map(candidate -> candidate.path(peer))
                .distinct()
                .toList();
    }

    /** A peer as it says of itself. */
    private static Node node(List<PeerLink> links) {
        return new Node(
                0,
                "",
                links.stream()
                        .map(link -> new Node.Link(
                                link.interfaceAddress(),
                                Integer.MAX_VALUE,
                                link.kinds().contains(LinkKind.RDMA),
                                Set.of(),
                                false,
                                List.of()))
                        .toList());
    }

    private Node said(InetAddress address) {
        return said.getOrDefault(
                address,
                node(List.of(new PeerLink(
                        address, address.getAddress().length * Byte.SIZE, ANY_PORT, Set.of(LinkKind.SOFTWARE)))));
    }

    private Optional<Candidate> candidate(List<PeerLink> remotes, List<Route> routes) {
        Route route = routes.getFirst();
        return remotes.stream()
                .filter(remote -> remote.address().equals(route.remote()))
                .findFirst()
                .flatMap(remote -> link(route.local()).map(local -> new Candidate(local, remote, routes)));
    }

    private static Bandwidth bandwidth(Route route) {
        return Bandwidth.ofRelayed(route.speedMbps(), route.relays().size());
    }

    private Optional<LocalLink> link(InetAddress address) {
        return links.stream()
                .filter(link -> link.address().address().equals(address))
                .findFirst();
    }

    @Override
    public Optional<CircuitRoute> from(InetAddress local, InetSocketAddress remote) {
        InetAddress to = remote.getAddress();
        Optional<LocalLink> link = link(local).filter(each -> !isOnLink(each, to));
        if (link.isEmpty()) {
            return Optional.empty();
        }
        List<Route> routes = table.between(local, said(to), to);
        return routes.isEmpty()
                ? Optional.empty()
                : Optional.of(relays.circuit(routes, link.get().interfaceIndex(), remote, keys));
    }

    @Override
    public CircuitKeys keys() {
        return keys;
    }

    @Override
    public boolean leadTo(InetAddress local, InetAddress remote) {
        return link(local).filter(each -> !isOnLink(each, remote)).isPresent()
                && !table.between(local, said(remote), remote).isEmpty();
    }

    /** All link-local addresses are in one subnet: only those that are heard are on the link. */
    private boolean isOnLink(LocalLink link, InetAddress to) {
        InetAddress own = link.address().address();
        if (link.isLinkLocal()) {
            return nodes.get().own().link(own).filter(each -> each.hears(to)).isPresent();
        }
        return link.address().contains(to)
                || kernel.sourceFor(to).filter(own::equals).isPresent();
    }

    String report(List<PeerLink> remotes) {
        Nodes known = nodes.get();
        Optional<Node> peer = remotes.stream()
                .flatMap(remote -> known.at(remote.address()).stream())
                .findFirst();
        StringBuilder text = new StringBuilder("Seen by announcements: " + Shape.describe(known) + ".");
        List<String> unproven = known.unproven();
        if (!unproven.isEmpty()) {
            text.append(" Neighbours that have not connected to a process of this job: ")
                    .append(unproven.stream().limit(MAX_NAMES).collect(Collectors.joining(", ")))
                    .append("; a cluster key makes them known (TRIGON_CLUSTER_KEY_FILE).");
        }
        if (peer.isEmpty()) {
            text.append(" No announcement mentions the peer");
            boolean none = known.all().size() == 1 && known.complaints().isEmpty();
            text.append(none ? ": no announcement arrived (UDP, see topology.port)." : ".");
        } else {
            List<Node> own = part(known, known.own());
            boolean joined = own.contains(peer.get());
            List<String> idle = own.stream()
                    .filter(node -> !node.relays())
                    .map(Node::name)
                    .limit(MAX_NAMES)
                    .toList();
            text.append(joined ? noRoute(known, idle) : " There is no route from here to the peer.");
        }
        text.append(
                        known.complaints().isEmpty()
                                ? " A cable would help: from "
                                : " But %s. If they are another job's, a cable would help: from "
                                        .formatted(String.join(
                                                "; and ", known.complaints().values())))
                .append(names(part(known, known.own())))
                .append(" to ")
                .append(peer.map(node -> names(part(known, node))).orElse("the peer"))
                .append(", or a process of the job on a node with links to both.");
        return text.toString();
    }

    private static String noRoute(Nodes known, List<String> idle) {
        int count = known.all().size();
        return count > NetworkMap.MAX_NODES
                ? " Relays serve %d nodes at most, and %d announce themselves.".formatted(NetworkMap.MAX_NODES, count)
                : " No route has at most %d relays%s."
                        .formatted(
                                RouteTable.MAX_RELAYS,
                                idle.isEmpty() ? "" : ", and these nodes do not relay: " + String.join(", ", idle));
    }

    private static List<Node> part(Nodes known, Node of) {
        return Shape.parts(known).stream()
                .filter(part -> part.contains(of))
                .findFirst()
                .orElse(List.of(of));
    }

    private static String names(List<Node> nodes) {
        List<String> names = nodes.stream().map(Node::name).distinct().sorted().toList();
        String listed = names.stream().limit(MAX_NAMES).collect(Collectors.joining(" or "));
        return names.size() > MAX_NAMES ? "one of %d nodes, such as %s".formatted(names.size(), listed) : listed;
    }

    /** For the log: from where. */
    @Override
    public String toString() {
        return links.stream()
                .map(link -> InterfaceAddress.text(link.address().address()))
                .collect(Collectors.joining(", "));
    }
}
