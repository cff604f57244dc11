package trigon.topology;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Finds ways through relays: the fewest relays first, then the fastest slowest link, then the least load, then by a
 * number that both ends of a connection know, so that relays of equal rank share the connections.
 */
public final class Routes {

    /** Relays on a way, at most. */
    public static final int MOST_RELAYS = 4;

    /** Loads that differ by less are equal: they change from second to second. */
    private static final int LOAD_STEP_MBPS = 5000;

    /** Ways that are looked at. */
    private static final int MOST_WAYS = 256;

    private final Nodes nodes;
    private final InetAddress target;
    private final List<Route> found = new ArrayList<>();
    private int steps;

    private Routes(Nodes nodes, InetAddress target) {
        this.nodes = nodes;
        this.target = target;
    }

    /**
     * The ways with the fewest relays from the own node to an address, best first; none if none is known.
     *
     * @param target an address of another node's
     * @param tie decides among equals
     */
    public static List<Route> to(Nodes nodes, InetAddress target, long tie) {
        Routes search = new Routes(nodes, target);
        for (int relays = 1; relays <= MOST_RELAYS && search.found.isEmpty(); relays++) {
            search.steps = 0;
            search.extend(new ArrayList<>(List.of(nodes.own())), new ArrayList<>(), relays);
        }
        return search.found.stream().sorted(order(tie)).toList();
    }

    /** The best first. */
    public static Comparator<Route> order(long tie) {
        return Comparator.comparingInt((Route route) -> route.relays().size())
                .thenComparingInt(route -> -route.speedMbps())
                .thenComparingInt(route -> route.loadMbps() / LOAD_STEP_MBPS)
                .thenComparingInt(route -> mixed(tie, sorted(route.names()).hashCode()));
    }

    /** So that the order of two ways depends on the tie: the finalizer of SplittableRandom's generator. */
    private static int mixed(long tie, int way) {
        long bits = (tie ^ way * 0x9E3779B97F4A7C15L) * 0xBF58476D1CE4E5B9L;
        bits = (bits ^ bits >>> 27) * 0x94D049BB133111EBL;
        return (int) (bits >>> 32);
    }

    /** The same seen from both ends. */
    private static List<String> sorted(List<String> names) {
        return names.stream().sorted().toList();
    }

    private void extend(List<Node> way, List<Nodes.Edge> edges, int relaysLeft) {
        steps++;
        if (found.size() >= MOST_WAYS || steps > MOST_WAYS * MOST_WAYS) {
            return;
        }
        if (relaysLeft == 0) {
            finish(edges);
            return;
        }
        for (Nodes.Edge edge : nodes.edges(way.getLast())) {
            boolean isTarget = edge.to().link(target).isPresent();
            boolean relays = !edge.there().relays().isEmpty()
                    && edge.there().hears(edge.here().address().address());
            if (!way.contains(edge.to()) && !isTarget && relays) {
                way.add(edge.to());
                edges.add(edge);
                extend(way, edges, relaysLeft - 1);
                way.removeLast();
                edges.removeLast();
            }
        }
    }

    private void finish(List<Nodes.Edge> edges) {
        Node last = edges.getLast().to();
        for (Node.Link link : last.links()) {
            if (link.hears(target)) {
                int speed = link.speedMbps();
                int load = 0;
                List<InetSocketAddress> relays = new ArrayList<>();
                List<String> names = new ArrayList<>();
                for (Nodes.Edge edge : edges) {
                    Node.RelayPort relay = edge.there().relays().getFirst();
                    speed = Math.min(
                            speed,
                            Math.min(edge.here().speedMbps(), edge.there().speedMbps()));
                    load = Math.max(load, relay.loadMbps());
                    relays.add(new InetSocketAddress(edge.there().address().address(), relay.port()));
                    names.add(edge.to().name());
                }
                found.add(new Route(edges.getFirst().here().address().address(), relays, names, speed, load));
            }
        }
    }
}
