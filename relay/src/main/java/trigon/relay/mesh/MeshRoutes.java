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
import java.util.stream.IntStream;
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

    /** Bound on the routes from one address that circuits share. */
    private static final int MAX_SHARED = 64;

    /**
     * A path in question.
     *
     * @param routes of equal rank; at least one
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

        List<InterfaceAddress> ends() {
            return Stream.of(local.address(), remote.interfaceAddress())
                    .sorted()
                    .toList();
        }

        Path path(String peer) {
            Reason why = new Reason.Relayed(names(), bandwidth(route()), route().rdmaHops());
            return new Path(peer, local, remote, LinkKind.SOFTWARE, why);
        }
    }

    /** Compares by bandwidth, most first, in steps; then by the number of relays, fewest first, then by load. */
    private static final Comparator<Route> ROUTES_BY_RANK = Comparator.comparing(MeshRoutes::bandwidth)
            .reversed()
            .thenComparingInt(route -> route.relays().size())
            .thenComparingInt(route -> route.loadMbps() / Routes.LOAD_STEP_MBPS);

    private static final Comparator<Candidate> BY_RANK = Comparator.comparing(Candidate::route, ROUTES_BY_RANK);

    /** Compares alike at both ends: by names and addresses, and not by whose they are. */
    private static final Comparator<Candidate> ALIKE_AT_BOTH_ENDS = Comparator.comparing((Candidate candidate) ->
                    String.join(" ", candidate.names().stream().sorted().toList()))
            .thenComparing(candidate -> candidate.ends().getFirst())
            .thenComparing(candidate -> candidate.ends().getLast());

    private static final Comparator<Candidate> BEST_FIRST = BY_RANK.thenComparing(ALIKE_AT_BOTH_ENDS);

    /** Neighbours in the list of candidates should share none of these. */
    private static final List<Function<Candidate, Object>> TRAITS = List.of(
            Candidate::names,
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
                        .forEach((own, routes) ->
                                link(own).ifPresent(local -> found.add(new Candidate(local, remote, routes))));
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

    private static Bandwidth bandwidth(Route route) {
        return Bandwidth.ofRelayed(route.speedMbps(), route.relays().size());
    }

    /**
     * The best from each own address, and those of equal rank, which its circuits share: a path names that address and
     * the end, and {@link #from} finds the same relays.
     */
    private Map<InetAddress, List<Route>> byLink(Nodes known, InetAddress to) {
        Map<InetAddress, List<Route>> best = new LinkedHashMap<>();
        for (Route route : Routes.to(known, to, saidRdma.getOrDefault(to, false))) {
            List<Route> equals = best.computeIfAbsent(route.local(), _ -> new ArrayList<>());
            if (equals.isEmpty() || (equals.size() < MAX_SHARED && areEqual(equals.getFirst(), route))) {
                equals.add(route);
            }
        }
        return best;
    }

    private static boolean areEqual(Route one, Route other) {
        return ROUTES_BY_RANK.compare(one, other) == 0 && one.rdmaHops() == other.rdmaHops();
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
        Optional<LocalLink> link = link(local).filter(each -> !isOnLink(each, to));
        if (link.isEmpty()) {
            return Optional.empty();
        }
        return Optional.ofNullable(byLink(nodes.get(), to).get(local))
                .map(routes -> relays.circuit(routes, link.get().interfaceIndex(), remote, keys));
    }

    @Override
    public boolean leadTo(InetAddress local, InetAddress remote) {
        return link(local).filter(each -> !isOnLink(each, remote)).isPresent()
                && byLink(nodes.get(), remote).containsKey(local);
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
