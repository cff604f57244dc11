package trigon.topology;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** What the links between the nodes look like. */
public enum Shape {
    /** One node. */
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
    /** There are two nodes without any way between them. */
    PARTITIONED;

    /** Of these nodes. */
    public static Shape of(Nodes nodes) {
        int count = nodes.all().size();
        if (count == 1) {
            return SINGLE;
        }
        if (parts(nodes).size() > 1) {
            return PARTITIONED;
        }
        int[] degrees = nodes.all().stream()
                .mapToInt(node -> nodes.neighbours(node).size())
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

    /** The groups of nodes that have a way to each other, each in the order of the way. */
    public static List<List<Node>> parts(Nodes nodes) {
        List<List<Node>> parts = new ArrayList<>();
        Set<Node> seen = new HashSet<>();
        for (Node start : nodes.all()) {
            if (seen.add(start)) {
                List<Node> part = new ArrayList<>();
                ArrayDeque<Node> todo = new ArrayDeque<>(List.of(start));
                while (!todo.isEmpty()) {
                    Node node = todo.remove();
                    part.add(node);
                    nodes.neighbours(node).stream().filter(seen::add).forEach(todo::add);
                }
                parts.add(part);
            }
        }
        return parts;
    }

    /** As in a log: {@code full mesh}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** The nodes and their links in a line: {@code ring of 4 nodes: a-b, a-d, b-c, c-d}. */
    public static String describe(Nodes nodes) {
        List<String> cables = new ArrayList<>();
        for (Node node : nodes.all()) {
            nodes.neighbours(node).stream()
                    .filter(other -> node.name().compareTo(other.name()) < 0
                            || (node.name().equals(other.name()) && node.id() < other.id()))
                    .map(other -> node.name() + "-" + other.name())
                    .sorted()
                    .forEach(cables::add);
        }
        int most = 32;
        String list = String.join(", ", cables.size() > most ? cables.subList(0, most) : cables);
        return "%s of %d nodes: %s%s"
                .formatted(
                        of(nodes),
                        nodes.all().size(),
                        list.isEmpty() ? "no links" : list,
                        cables.size() > most ? ", and " + (cables.size() - most) + " more" : "");
    }
}
