package trigon.relay.topology;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import trigon.config.Settings;

/** The shape of the links between the nodes. */
public enum Shape {
    SINGLE,
    /** Each two have a link. */
    FULL_MESH,
    /** Each has two neighbours, all in one circle. */
    RING,
    /** A ring that is cut in one place. */
    LINE,
    /** One has a link to each of the others, and they have none to each other. */
    STAR,
    /** Connected, and none of these. */
    IRREGULAR,
    /** Two nodes have no route between them. */
    PARTITIONED;

    /** Bound on the cables that a message names. */
    private static final int MAX_CABLES = 32;

    /** The shape of the links between these nodes. */
    public static Shape of(Nodes nodes) {
        int count = nodes.all().size();
        if (count == 1) {
            return SINGLE;
        }
        if (parts(nodes).size() > 1) {
            return PARTITIONED;
        }
        Graph graph = nodes.graph();
        int[] degrees = IntStream.range(0, count)
                .map(node -> graph.neighbours(node).cardinality())
                .sorted()
                .toArray();
        if (degrees[0] == count - 1) {
            return FULL_MESH;
        }
        if (degrees[0] == 2 && degrees[count - 1] == 2) {
            return RING;
        }
        if (degrees[1] == 1 && degrees[count - 1] == count - 1 && count > 3 && degrees[count - 2] == 1) {
            return STAR;
        }
        boolean line = degrees[0] == 1 && degrees[1] == 1 && degrees[count - 1] == 2 && (count < 3 || degrees[2] == 2);
        return line ? LINE : IRREGULAR;
    }

    /** Groups of nodes that have routes to each other, each in the order of the route. */
    public static List<List<Node>> parts(Nodes nodes) {
        Graph graph = nodes.graph();
        List<Node> all = nodes.all();
        List<List<Node>> parts = new ArrayList<>();
        BitSet seen = new BitSet();
        for (int start = seen.nextClearBit(0); start < all.size(); start = seen.nextClearBit(start)) {
            List<Node> part = new ArrayList<>();
            ArrayDeque<Integer> todo = new ArrayDeque<>(List.of(start));
            seen.set(start);
            while (!todo.isEmpty()) {
                int node = todo.remove();
                part.add(all.get(node));
                BitSet next = (BitSet) graph.neighbours(node).clone();
                next.andNot(seen);
                next.stream().forEach(todo::add);
                seen.or(next);
            }
            parts.add(part);
        }
        return parts;
    }

    /** As in a log: {@code full mesh}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /**
     * The nodes and their links in a line: {@code ring of 4 nodes: a-b, a-d, b-c, c-d}; the neighbours where no more is
     * known.
     */
    public static String describe(Nodes nodes) {
        return nodes.isComplete() ? describeAll(nodes) : describeNeighbours(nodes);
    }

    /** Returns whether {@link #describe} names all neighbours, where no more is known. */
    public static boolean isListed(Nodes nodes) {
        return neighbours(nodes).size() <= MAX_CABLES;
    }

    private static List<String> neighbours(Nodes nodes) {
        return nodes.neighbours(nodes.own()).stream().map(Node::name).distinct().toList();
    }

    private static String describeNeighbours(Nodes nodes) {
        List<String> names = neighbours(nodes);
        String listed = names.stream().limit(MAX_CABLES).collect(Collectors.joining(", "));
        return "neighbours of %s: %s%s; nodes behind them are known once the job has a key, or by the cluster's (%s)"
                .formatted(
                        nodes.own().name(),
                        names.isEmpty() ? "none" : listed,
                        names.size() > MAX_CABLES ? ", and " + (names.size() - MAX_CABLES) + " more" : "",
                        Settings.CLUSTER_KEY_FILE.variable().orElseThrow());
    }

    private static String describeAll(Nodes nodes) {
        Graph graph = nodes.graph();
        List<Node> all = nodes.all();
        List<String> cables = new ArrayList<>();
        long ends = 0;
        for (int node = 0; node < all.size(); node++) {
            BitSet neighbours = graph.neighbours(node);
            ends += neighbours.cardinality();
            for (int other = neighbours.nextSetBit(node);
                    other >= 0 && cables.size() < MAX_CABLES;
                    other = neighbours.nextSetBit(other + 1)) {
                cables.add(all.get(node).name() + "-" + all.get(other).name());
            }
        }
        return "%s of %d nodes: %s%s"
                .formatted(
                        of(nodes),
                        all.size(),
                        cables.isEmpty() ? "no links" : String.join(", ", cables),
                        ends / 2 > cables.size() ? ", and " + (ends / 2 - cables.size()) + " more" : "");
    }
}
