package trigon.relay.topology;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import trigon.config.Settings;

/** An order of nodes in which neighbours in NCCL's ring, which follows the order of ranks, have a link. */
public final class NodeOrder {

    /** Bound on the search; more nodes than some 20 may take more, and then there is no advice. */
    private static final int MAX_LOOKS = 1_000_000;

    /** Bound on the nodes: nobody orders more names by hand, and each is a call within another. */
    private static final int MAX_NODES = 256;

    private final Graph graph;
    private final BitSet taken = new BitSet();
    private int looks;

    private NodeOrder(Graph graph) {
        this.graph = graph;
    }

    /** The order; empty if there is none, or it was not found. The first by name is the first. */
    public static Optional<List<Node>> withoutRelay(Nodes nodes) {
        int count = nodes.all().size();
        if (count < 3) {
            return Shape.of(nodes) == Shape.PARTITIONED ? Optional.empty() : Optional.of(nodes.all());
        }
        List<Integer> order = new ArrayList<>();
        return count <= MAX_NODES && new NodeOrder(nodes.graph()).extend(order, 0)
                ? Optional.of(order.stream().map(nodes.all()::get).toList())
                : Optional.empty();
    }

    private boolean extend(List<Integer> order, int node) {
        order.add(node);
        taken.set(node);
        BitSet neighbours = graph.neighbours(node);
        if (order.size() == graph.nodes().size() && neighbours.get(order.getFirst())) {
            return true;
        }
        List<Integer> next = neighbours.stream()
                .filter(other -> !taken.get(other))
                .boxed()
                .sorted(Comparator.comparingInt(other -> graph.neighbours(other).cardinality())) // then by name
                .toList();
        looks += next.size();
        for (int other : next) {
            if (looks <= MAX_LOOKS && extend(order, other)) {
                return true;
            }
        }
        order.removeLast();
        taken.clear(node);
        return false;
    }

    /** The advice for people: ready to paste. */
    public static String advice(Nodes nodes) {
        if (!nodes.isComplete()) {
            return "an order without relays in a ring is known once the job has a key, or by the cluster's (%s)"
                    .formatted(Settings.CLUSTER_KEY_FILE.variable().orElseThrow());
        }
        Optional<List<Node>> found = withoutRelay(nodes);
        if (found.isEmpty()) {
            return "no order of these nodes avoids relays in a ring (%s)".formatted(Shape.describe(nodes));
        }
        List<Node> order = found.get();
        String torchrun = IntStream.range(0, order.size())
                .mapToObj(rank -> order.get(rank).name() + ": --node_rank " + rank)
                .collect(Collectors.joining(", "));
        String list = order.stream().map(Node::name).collect(Collectors.joining(","));
        return ("this order of nodes needs no relay in a ring: %s. torchrun: %s. Slurm: printf '%%s\\n' %s > hosts;"
                        + " SLURM_HOSTFILE=hosts srun --distribution=arbitrary --nodelist %s")
                .formatted(list, torchrun, list.replace(',', ' '), list);
    }

    /** The number of connections of a ring in this order that have no link of their own. */
    static int relayed(Nodes nodes, List<Node> order) {
        Map<Integer, Boolean> direct = new HashMap<>();
        for (int i = 0; i < order.size(); i++) {
            direct.put(i, nodes.neighbours(order.get(i)).contains(order.get((i + 1) % order.size())));
        }
        return (int) direct.values().stream().filter(each -> !each).count();
    }
}
