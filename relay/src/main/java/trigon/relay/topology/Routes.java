package trigon.relay.topology;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;

/**
 * Finds routes through relays: those that carry most first, which is what the slowest link does, divided among the
 * links; so with links that are alike the fewest relays; then the least load.
 */
public final class Routes {

    /** Relays on a route, at most. */
    public static final int MAX_RELAYS = 4;

    /** Loads that differ by less are equal: they change from second to second. */
    public static final int LOAD_STEP_MBPS = 5000;

    /** Routes among which the best is chosen. */
    private static final int MAX_ROUTES = 256;

    /** The most that a relay passes on over TCP: it copies each byte twice. */
    private static final int MAX_TCP_MBPS = 24_000;

    /** A route that much slower than this node's fastest link makes it worth to look for one with more relays. */
    private static final int FAR_SLOWER = 10;

    /** Links that are looked at for routes with one number of relays. */
    private static final int MAX_LOOKS = 1 << 16;

    /** By what they carry, most first; then by the number of relays, by load, and by names, as both ends have them. */
    private static final Comparator<Route> BEST_FIRST = Comparator.comparingInt((Route route) -> -carriedMbps(route))
            .thenComparingInt(route -> route.relays().size())
            .thenComparingInt(route -> route.loadMbps() / LOAD_STEP_MBPS)
            .thenComparing(route -> String.join(" ", sorted(route.names())));

    /** A step of a route: from a node's link to the relay of another one. */
    private record Step(Node.Link here, Graph.End there) {}

    private final Graph graph;
    private final int own;
    private final InetAddress target;
    private final boolean targetHasRdma;

    /** Relays from which so many more lead to the target, at least: none, one and so on. */
    private final List<BitSet> before = new ArrayList<>();

    private final List<Route> found = new ArrayList<>();
    private int looks;

    /** Over the first link at hand. */
    private int mostFound;

    private int mostLooks;

    private Routes(Nodes nodes, InetAddress target, boolean saysRdma) {
        graph = nodes.graph();
        own = nodes.ownIndex();
        this.target = target;
        BitSet announced = graph.at(target);
        targetHasRdma = announced.isEmpty() ? saysRdma : hasRdma(graph, target);
    }

    /** {@link #to(Nodes, InetAddress, boolean)} a node that has said nothing by other means. */
    static List<Route> to(Nodes nodes, InetAddress target) {
        return to(nodes, target, false);
    }

    /**
     * The routes from the own node to an address with the fewest relays, best first; those with more as well where all
     * with fewer are far slower than this node's links. None if none is known.
     *
     * @param target an address of another node's
     * @param saysRdma whether it has said by other means that it has RDMA there: without the cluster key, no
     *     announcement comes from beyond a relay
     */
    public static List<Route> to(Nodes nodes, InetAddress target, boolean saysRdma) {
        Routes search = new Routes(nodes, target, saysRdma);
        search.last();
        for (int relays = 1; relays <= MAX_RELAYS && search.isSlow(); relays++) {
            search.over(relays);
            search.previous();
        }
        return search.found.stream().sorted(BEST_FIRST).toList();
    }

    /** Returns whether the routes that are found carry little: a Wi-Fi or management network is among their links. */
    private boolean isSlow() {
        int fastest = graph.nodes().get(own).links().stream()
                .mapToInt(Node.Link::speedMbps)
                .max()
                .orElse(0);
        return found.stream().noneMatch(route -> route.speedMbps() > fastest / FAR_SLOWER);
    }

    /** Each relay passes on by one link what comes by another. */
    private static int carriedMbps(Route route) {
        return route.speedMbps() <= 1
                ? route.speedMbps()
                : route.speedMbps() / (route.relays().size() + 1);
    }

    /** The same seen from both ends. */
    private static List<String> sorted(List<String> names) {
        return names.stream().sorted().toList();
    }

    /** The relays that hear the target. */
    private void last() {
        BitSet found = new BitSet();
        for (int node = 0; node < graph.nodes().size(); node++) {
            if (graph.nodes().get(node).links().stream().anyMatch(link -> link.hears(target))) {
                found.set(node);
            }
        }
        before.add(onlyRelays(found));
    }

    /** The relays that those hear which were found before. */
    private void previous() {
        BitSet found = new BitSet();
        before.getLast().stream()
                .mapToObj(graph.nodes()::get)
                .flatMap(node -> node.links().stream())
                .filter(link -> !link.relays().isEmpty())
                .forEach(link -> graph.addHeard(link, found));
        before.add(onlyRelays(found));
    }

    private BitSet onlyRelays(BitSet found) {
        found.clear(own);
        found.andNot(graph.at(target));
        BitSet relays = new BitSet();
        found.stream().filter(node -> graph.nodes().get(node).relays()).forEach(relays::set);
        return relays;
    }

    /** Each link of the own node has its share, so that those behind one do not crowd out the others. */
    private void over(int relays) {
        looks = 0;
        List<Node.Link> links = graph.nodes().get(own).links();
        for (int i = 0; i < links.size(); i++) {
            int linksLeft = links.size() - i;
            mostFound = found.size() + (MAX_ROUTES - found.size()) / linksLeft;
            mostLooks = looks + (MAX_LOOKS - looks) / linksLeft;
            extend(links.get(i), new ArrayList<>(), relays);
        }
    }

    private void extend(Node.Link here, List<Step> steps, int relaysLeft) {
        BitSet next = before.get(relaysLeft - 1);
        for (List<Graph.End> hearing : graph.hearing(here.address().address())) {
            for (Graph.End there : hearing) {
                if (found.size() >= mostFound || looks >= mostLooks) {
                    return;
                }
                looks++;
                boolean again = steps.stream().anyMatch(step -> step.there().node() == there.node());
                if (next.get(there.node()) && !again && !there.link().relays().isEmpty()) {
                    steps.add(new Step(here, there));
                    if (relaysLeft == 1) {
                        finish(steps);
                    } else {
                        for (Node.Link onward : graph.nodes().get(there.node()).links()) {
                            extend(onward, steps, relaysLeft - 1);
                        }
                    }
                    steps.removeLast();
                }
            }
        }
    }

    private void finish(List<Step> steps) {
        Node last = graph.nodes().get(steps.getLast().there().node());
        for (Node.Link link : last.links()) {
            if (link.hears(target) && found.size() < mostFound) {
                found.add(route(steps, link));
            }
        }
    }

    private Route route(List<Step> steps, Node.Link last) {
        boolean rdma = last.rdma() && targetHasRdma;
        int speed = carriedMbps(last.speedMbps(), rdma);
        int rdmaHops = rdma ? 1 : 0;
        int load = 0;
        List<Route.Relay> relays = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (Step step : steps) {
            Node.Link there = step.there().link();
            boolean byRdma = step.here().rdma() && there.rdma();
            int slower = Math.min(step.here().speedMbps(), there.speedMbps());
            speed = Math.min(speed, carriedMbps(slower, byRdma));
            rdmaHops += byRdma ? 1 : 0;
            load = Math.max(load, there.relays().getFirst().loadMbps());
            relays.add(new Route.Relay(
                    there.address().address(),
                    there.relays().stream().map(Node.RelayPort::port).toList()));
            names.add(graph.nodes().get(step.there().node()).name());
        }
        InetAddress local = steps.getFirst().here().address().address();
        return new Route(local, relays, names, speed, rdmaHops, load);
    }

    private static int carriedMbps(int linkMbps, boolean rdma) {
        return rdma ? linkMbps : Math.min(linkMbps, MAX_TCP_MBPS);
    }

    /** Returns whether the node with that address says so. */
    private static boolean hasRdma(Graph graph, InetAddress address) {
        return graph.at(address).stream()
                .mapToObj(graph.nodes()::get)
                .flatMap(node -> node.link(address).stream())
                .anyMatch(Node.Link::rdma);
    }
}
