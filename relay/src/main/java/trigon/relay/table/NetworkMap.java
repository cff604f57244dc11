package trigon.relay.table;

import java.util.BitSet;
import java.util.List;

/**
 * Nodes and the cables between them, by numbers that are the same on all nodes.
 *
 * @param nodes their number, at most {@link #MAX_NODES}
 * @param idle those that relay nothing: routes only begin and end there
 * @param cables at most {@link #MAX_CABLES}
 */
public record NetworkMap(int nodes, BitSet idle, List<Cable> cables) {

    /** Nodes that a table has routes for: the time that it takes grows with their square, and more. */
    public static final int MAX_NODES = 64;

    /** Cables between two nodes that routes use. */
    public static final int MAX_PARALLEL = 4;

    public static final int MAX_CABLES = MAX_PARALLEL * MAX_NODES * (MAX_NODES - 1) / 2;

    /**
     * A cable, or whatever joins two nodes.
     *
     * @param one a node
     * @param other another node, with a higher number
     * @param step what it carries in each direction, as {@link trigon.routing.Bandwidth} counts it, up to 30
     */
    public record Cable(int one, int other, int step) {

        int from(int node) {
            return node == one ? other : one;
        }

        /** Returns whether it joins the same two nodes. */
        public boolean isBeside(Cable another) {
            return one == another.one && other == another.other;
        }
    }

    public NetworkMap {
        cables = List.copyOf(cables);
        idle = (BitSet) idle.clone();
        if (nodes < 0 || nodes > MAX_NODES || cables.size() > MAX_CABLES) {
            throw new IllegalArgumentException("%d nodes and %d cables are more than %d and %d"
                    .formatted(nodes, cables.size(), MAX_NODES, MAX_CABLES));
        }
        for (Cable cable : cables) {
            if (cable.one < 0
                    || cable.one >= cable.other
                    || cable.other >= nodes
                    || cable.step < 0
                    || cable.step > 30) {
                throw new IllegalArgumentException(cable + " joins no two of " + nodes + " nodes");
            }
        }
    }
}
