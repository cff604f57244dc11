package trigon.topology;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** An order of nodes in which neighbours in NCCL's ring, which follows the order of ranks, have a link. */
public final class NodeOrder {

    /** Steps of the search; more nodes than some 20 may take more, and then there is no advice. */
    private static final int MOST_STEPS = 200_000;

    private final Nodes nodes;
    private int steps;

    private NodeOrder(Nodes nodes) {
        this.nodes = nodes;
    }

    /** The order; empty if there is none, or it was not found. The first by name is the first. */
    public static Optional<List<Node>> withoutRelay(Nodes nodes) {
        if (nodes.all().size() < 3) {
            return Shape.of(nodes) == Shape.PARTITIONED ? Optional.empty() : Optional.of(nodes.all());
        }
        Node first = nodes.all().getFirst();
        List<Node> way = new ArrayList<>(List.of(first));
        return new NodeOrder(nodes).extend(way) ? Optional.of(way) : Optional.empty();
    }

    private boolean extend(List<Node> way) {
        if (way.size() == nodes.all().size()) {
            return nodes.neighbours(way.getLast()).contains(way.getFirst());
        }
        if (++steps > MOST_STEPS) {
            return false;
        }
        List<Node> next = nodes.neighbours(way.getLast()).stream()
                .filter(node -> !way.contains(node))
                .sorted(Comparator.comparingInt(
                                (Node node) -> nodes.neighbours(node).size())
                        .thenComparing(Node::name))
                .toList();
        for (Node node : next) {
            way.add(node);
            if (extend(way)) {
                return true;
            }
            way.removeLast();
        }
        return false;
    }

    /** The advice for people: ready to paste. */
    public static String advice(Nodes nodes) {
        Optional<List<Node>> order = withoutRelay(nodes);
        if (order.isEmpty()) {
            return "no order of these nodes avoids relays in a ring (%s)".formatted(Shape.describe(nodes));
        }
        List<Node> way = order.get();
        String torchrun = IntStream.range(0, way.size())
                .mapToObj(rank -> way.get(rank).name() + ": --node_rank " + rank)
                .collect(Collectors.joining(", "));
        String list = way.stream().map(Node::name).collect(Collectors.joining(","));
        return ("this order of nodes needs no relay in a ring: %s. torchrun: %s. Slurm: printf '%%s\\n' %s > hosts;"
                        + " SLURM_HOSTFILE=hosts srun --distribution=arbitrary --nodelist %s")
                .formatted(list, torchrun, list.replace(',', ' '), list);
    }

    /** How many connections of a ring in this order have no link of their own. */
    static int relayed(Nodes nodes, List<Node> order) {
        Map<Integer, Boolean> direct = new HashMap<>();
        for (int i = 0; i < order.size(); i++) {
            direct.put(i, nodes.neighbours(order.get(i)).contains(order.get((i + 1) % order.size())));
        }
        return (int) direct.values().stream().filter(each -> !each).count();
    }
}
