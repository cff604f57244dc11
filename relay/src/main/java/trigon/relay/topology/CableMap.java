package trigon.relay.topology;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import trigon.relay.table.NetworkMap;
import trigon.relay.table.Walk;
import trigon.routing.Bandwidth;

/**
 * The map of the nodes that are known now and of a peer, in an order that depends on their addresses alone, with what
 * the map's numbers stand for. Immutable.
 */
public final class CableMap {

    /** The most that a relay passes on over TCP: it copies each byte twice. */
    private static final int MAX_TCP_MBPS = 24_000;

    /** Links of two nodes that a cable, or a switch, joins; that of the lower number first. */
    private record Ends(Node.Link one, Node.Link other) {

        boolean rdma() {
            return one.rdma() && other.rdma();
        }

        boolean sharesEnd(Ends another) {
            return one.address().equals(another.one.address())
                    || other.address().equals(another.other.address());
        }

        int mbps() {
            int slower = Math.min(one.speedMbps(), other.speedMbps());
            return rdma() ? slower : Math.min(slower, MAX_TCP_MBPS);
        }
    }

    private static final Comparator<Node> BY_ADDRESS =
            Comparator.comparing(CableMap::first, Nodes.BY_ADDRESS).thenComparingLong(Node::id);

    private final List<Node> nodes;
    private final List<Ends> ends = new ArrayList<>();
    private final NetworkMap map;
    private final int own;
    private final int peer;

    private CableMap(List<Node> nodes, int own, int peer) {
        this.nodes = nodes;
        this.own = own;
        this.peer = peer;
        map = new NetworkMap(nodes.size(), idle(nodes), cables());
    }

    private static BitSet idle(List<Node> nodes) {
        BitSet idle = new BitSet();
        IntStream.range(0, nodes.size())
                .filter(node -> !nodes.get(node).relays())
                .forEach(idle::set);
        return idle;
    }

    /**
     * The map; empty if it would have more nodes than a table may. A peer that is proven to be a member is reached
     * through members.
     *
     * @param peer what it has said of itself by other means, which counts where it is not known: without a key, no
     *     announcement comes from beyond a relay
     */
    public static Optional<CableMap> of(Nodes nodes, Node peer) {
        Node own = nodes.own();
        Optional<Node> announced = nodes.isComplete()
                ? nodes.all().stream()
                        .filter(node -> node.id() != own.id() && areOne(node, peer))
                        .findFirst()
                : Optional.empty();
        Nodes known = announced.isPresent() ? nodes : nodes.withUnproven();
        List<Node> all = new ArrayList<>(known.isComplete() ? known.all() : between(known, peer));
        if (announced.isEmpty()) {
            all.add(peer);
        }
        if (all.size() > NetworkMap.MAX_NODES) {
            return Optional.empty();
        }
        all = all.stream()
                .filter(node -> !node.links().isEmpty())
                .sorted(BY_ADDRESS)
                .toList();
        int from = all.indexOf(own);
        return from < 0 ? Optional.empty() : Optional.of(new CableMap(all, from, all.indexOf(announced.orElse(peer))));
    }

    private static boolean areOne(Node node, Node other) {
        return other.links().stream()
                .anyMatch(link -> node.link(link.address().address()).isPresent());
    }

    /** The own node, and those that may be the only relay to the peer: a share of them over each own link. */
    private static Set<Node> between(Nodes known, Node peer) {
        Node own = known.own();
        List<Node> relays = known.all().stream()
                .filter(node -> node.id() != own.id() && node.relays() && !areOne(node, peer))
                .filter(node -> peer.links().stream()
                        .anyMatch(far -> node.links().stream()
                                .anyMatch(link -> link.hears(far.address().address()))))
                .toList();
        Set<Node> found = new LinkedHashSet<>(List.of(own));
        int most = (NetworkMap.MAX_NODES - 2) / Math.max(1, own.links().size());
        for (Node.Link near : own.links()) {
            Set<InetAddress> addresses = new HashSet<>();
            for (Node relay : relays) {
                Optional<Node.Link> there = relay.links().stream()
                        .filter(link -> link.hears(near.address().address()))
                        .findFirst();
                if (there.isPresent()
                        && addresses.size() < most
                        && addresses.add(there.get().address().address())) {
                    found.add(relay);
                }
            }
        }
        return found;
    }

    private static InetAddress first(Node node) {
        return node.links().stream()
                .map(link -> link.address().address())
                .min(Nodes.BY_ADDRESS)
                .orElseThrow();
    }

    /** Those of each two nodes that have no end in common. A switch joins any two of its links. */
    private List<NetworkMap.Cable> cables() {
        Graph graph = new Graph(nodes, nodes.getFirst().id());
        Map<Integer, List<Ends>> between = new HashMap<>();
        for (int node = 0; node < nodes.size(); node++) {
            for (Node.Link link : nodes.get(node).links()) {
                for (List<Graph.End> hearing : graph.hearing(link.address().address())) {
                    for (Graph.End there : hearing) {
                        add(node, link, there, between);
                    }
                }
            }
        }
        List<NetworkMap.Cable> cables = new ArrayList<>();
        between.keySet().stream().sorted().forEach(pair -> {
            for (Ends each : between.getOrDefault(pair, List.of())) {
                ends.add(each);
                int step = Bandwidth.of(each.mbps()).step();
                cables.add(new NetworkMap.Cable(pair / nodes.size(), pair % nodes.size(), step));
            }
        });
        return cables;
    }

    private void add(int node, Node.Link link, Graph.End there, Map<Integer, List<Ends>> between) {
        int low = Math.min(node, there.node());
        int high = Math.max(node, there.node());
        if (low == high || !isOpen(node, link) || !isOpen(there.node(), there.link())) {
            return;
        }
        Ends joined = low == node ? new Ends(link, there.link()) : new Ends(there.link(), link);
        List<Ends> known = between.computeIfAbsent(low * nodes.size() + high, _ -> new ArrayList<>(1));
        if (known.size() < NetworkMap.MAX_PARALLEL && known.stream().noneMatch(each -> each.sharesEnd(joined))) {
            known.add(joined);
        }
    }

    /** Returns whether a node that relays does so at that link. */
    private boolean isOpen(int node, Node.Link link) {
        return !nodes.get(node).relays() || !link.relays().isEmpty();
    }

    /** The map by numbers. */
    public NetworkMap map() {
        return map;
    }

    /** The number of the node that asks. */
    public int own() {
        return own;
    }

    /** The number of the peer. */
    public int peer() {
        return peer;
    }

    /** The cables that join the node that asks with the peer. */
    public BitSet direct() {
        NetworkMap.Cable joined = new NetworkMap.Cable(Math.min(own, peer), Math.max(own, peer), 0);
        return IntStream.range(0, ends.size())
                .filter(cable -> map.cables().get(cable).isBeside(joined))
                .collect(BitSet::new, BitSet::set, BitSet::or);
    }

    /** The cables of a node by which it has other addresses than these. */
    public BitSet besides(int node, Set<InetAddress> addresses) {
        BitSet others = new BitSet();
        for (int cable = 0; cable < ends.size(); cable++) {
            NetworkMap.Cable joined = map.cables().get(cable);
            boolean isOf = joined.one() == node || joined.other() == node;
            if (isOf && !addresses.contains(end(cable, node).address().address())) {
                others.set(cable);
            }
        }
        return others;
    }

    private Node.Link end(int cable, int node) {
        return map.cables().get(cable).one() == node
                ? ends.get(cable).one()
                : ends.get(cable).other();
    }

    /** The route that a walk stands for; empty if it has no relay. */
    public Stream<Route> route(Walk walk) {
        if (walk.relays() == 0) {
            return Stream.empty();
        }
        List<Route.Relay> relays = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (int hop = 0; hop < walk.relays(); hop++) {
            int node = walk.nodes().get(hop + 1);
            Node.Link link = end(walk.cables().get(hop), node);
            List<Integer> ports =
                    link.relays().stream().map(Node.RelayPort::port).toList();
            relays.add(new Route.Relay(link.address().address(), ports));
            names.add(nodes.get(node).name());
        }
        List<Ends> hops = walk.cables().stream().map(ends::get).toList();
        return Stream.of(new Route(
                end(walk.cables().getFirst(), walk.nodes().getFirst()).address().address(),
                relays,
                end(walk.cables().getLast(), walk.nodes().getLast()).address().address(),
                names,
                hops.stream().mapToInt(Ends::mbps).min().orElse(0),
                (int) hops.stream().filter(Ends::rdma).count()));
    }
}
