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
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import trigon.relay.topology.Node;
import trigon.relay.topology.Nodes;
import trigon.relay.topology.Route;
import trigon.relay.topology.Routes;
import trigon.relay.topology.Shape;
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

    private record Candidate(LocalLink local, PeerLink remote, Route route) {

        Bandwidth bandwidth() {
            return Bandwidth.ofRelayed(route.speedMbps(), route.relays().size());
        }

        List<InterfaceAddress> ends() {
            return Stream.of(local.address(), remote.interfaceAddress())
                    .sorted()
                    .toList();
        }

        Path path(String peer) {
            Reason why = new Reason.Relayed(route.names(), bandwidth(), route.rdmaHops());
            return new Path(peer, local, remote, LinkKind.SOFTWARE, why);
        }
    }

    /** Compares by bandwidth, most first, in steps; then by the number of relays, fewest first, then by load. */
    private static final Comparator<Candidate> BY_RANK = Comparator.comparing(Candidate::bandwidth)
            .reversed()
            .thenComparingInt(candidate -> candidate.route().relays().size())
            .thenComparingInt(candidate -> candidate.route().loadMbps() / Routes.LOAD_STEP_MBPS);

    /** Compares alike at both ends: by names and addresses, and not by whose they are. */
    private static final Comparator<Candidate> ALIKE_AT_BOTH_ENDS = Comparator.comparing((Candidate candidate) ->
                    String.join(" ", candidate.route().names().stream().sorted().toList()))
            .thenComparing(candidate -> candidate.ends().getFirst())
            .thenComparing(candidate -> candidate.ends().getLast());

    private static final Comparator<Candidate> BEST_FIRST = BY_RANK.thenComparing(ALIKE_AT_BOTH_ENDS);

    /** Neighbours in the list of candidates should share none of these. */
    private static final List<Function<Candidate, Object>> TRAITS = List.of(
            candidate -> candidate.route().names(),
            candidate -> candidate.local().address(),
            candidate -> candidate.remote().address());

    private final List<LocalLink> links;
    private final RouteLookup kernel;
    private final CircuitKeys keys;
    private final Supplier<Nodes> nodes;

    /** Peers' latest word of their links: whether these have RDMA. */
    private final Map<InetAddress, Boolean> saidRdma = Collections.synchronizedMap(new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<InetAddress, Boolean> eldest) {
            return size() > MAX_REMEMBERED;
        }
    });

    private final InterfaceAddress first;
    private final RouteBalancer balancer;
    private final RelayProcesses relays;

    /**
     * Over these links, of which there is at least one.
     *
     * @param begin where connections begin to share routes; see {@link RouteBalancer}
     */
    MeshRoutes(
            List<LocalLink> links,
            RouteLookup kernel,
            CircuitKeys keys,
            Supplier<Nodes> nodes,
            RelayProcesses relays,
            int begin) {
        balancer = new RouteBalancer(begin);
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
     * Best first. Connections to a peer share the routes of equal rank.
     *
     * @param connection its number, the same whenever it asks
     */
    List<Path> pathsTo(String peer, List<PeerLink> remotes, long connection) {
        Nodes known = nodes.get();
        List<Candidate> found = new ArrayList<>();
        for (PeerLink remote : remotes) {
            if (remote.kinds().contains(LinkKind.SOFTWARE)) {
                saidRdma.put(remote.address(), remote.kinds().contains(LinkKind.RDMA));
                byLink(known, remote.address())
                        .forEach((own, route) ->
                                link(own).ifPresent(local -> found.add(new Candidate(local, remote, route))));
            }
        }
        if (found.isEmpty()) {
            return List.of();
        }
        int turn = balancer.turn(first, remotes, connection);
        return byRank(found).stream()
                .flatMap(equals -> RouteBalancer.inTurn(equals, TRAITS, turn).stream())
                .map(candidate -> candidate.path(peer))
                .distinct()
                .toList();
    }

    /** The best from each own address: a path names that and the end, and {@link #from} finds the same relays. */
    private Map<InetAddress, Route> byLink(Nodes known, InetAddress to) {
        Map<InetAddress, Route> best = new LinkedHashMap<>();
        for (Route route : Routes.to(known, to, saidRdma.getOrDefault(to, false))) {
            best.putIfAbsent(route.local(), route);
        }
        return best;
    }

    /** The best first; in each list those of equal rank. */
    private static List<List<Candidate>> byRank(List<Candidate> candidates) {
        List<List<Candidate>> ranks = new ArrayList<>();
        for (Candidate candidate : candidates.stream().sorted(BEST_FIRST).toList()) {
            if (ranks.isEmpty() || BY_RANK.compare(ranks.getLast().getFirst(), candidate) != 0) {
                ranks.add(new ArrayList<>());
            }
            ranks.getLast().add(candidate);
        }
        return ranks;
    }

    private Optional<LocalLink> link(InetAddress address) {
        return links.stream()
                .filter(link -> link.address().address().equals(address))
                .findFirst();
    }

    @Override
    public Optional<CircuitRoute> from(InetAddress local, InetSocketAddress remote) {
        InetAddress to = remote.getAddress();
        Optional<LocalLink> link = link(local);
        if (link.isEmpty() || isOnLink(link.get(), to)) {
            return Optional.empty();
        }
        return Optional.ofNullable(byLink(nodes.get(), to).get(local))
                .map(route -> relays.circuit(route, link.get().interfaceIndex(), remote, keys));
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
        if (peer.isEmpty()) {
            text.append(" No announcement mentions the peer");
            text.append(known.all().size() == 1 ? ": no announcement arrived (UDP, see topology.port)." : ".");
        } else {
            List<Node> own = part(known, known.own());
            boolean joined = own.contains(peer.get());
            List<String> idle = own.stream()
                    .filter(node -> !node.relays())
                    .map(Node::name)
                    .limit(MAX_NAMES)
                    .toList();
            text.append(
                    joined
                            ? " No route has at most %d relays%s."
                                    .formatted(
                                            Routes.MAX_RELAYS,
                                            idle.isEmpty()
                                                    ? ""
                                                    : ", and these nodes do not relay: " + String.join(", ", idle))
                            : " There is no route from here to the peer.");
        }
        text.append(" A cable would help: from ")
                .append(names(part(known, known.own())))
                .append(" to ")
                .append(peer.map(node -> names(part(known, node))).orElse("the peer"))
                .append(", or a process of the job on a node with links to both.");
        return text.toString();
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
