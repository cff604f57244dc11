package trigon.relay.table;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import trigon.relay.table.NetworkMap.Cable;

/** Hops between nodes, over cables of a speed or faster; counted when they are first asked for. One thread. */
final class Hops {

    /** Number of hops that stands for a node that is not reached. */
    static final int FAR = 1 << 10;

    private final NetworkMap map;

    /** Of each node: the cables that can be used, and where they lead. */
    private final int[][] cables;

    private final int[][] next;
    private final int[] stepOf;
    private final boolean[] idle;
    private final int[] steps;
    private final int[][][] counted;

    /** Counts hops over all cables of the map but these. */
    Hops(NetworkMap map, BitSet without) {
        this.map = map;
        List<Cable> all = map.cables();
        int[] degrees = new int[map.nodes()];
        BitSet present = new BitSet();
        for (int i = without.nextClearBit(0); i < all.size(); i = without.nextClearBit(i + 1)) {
            degrees[all.get(i).one()]++;
            degrees[all.get(i).other()]++;
            present.set(all.get(i).step());
        }
        cables = Arrays.stream(degrees).mapToObj(int[]::new).toArray(int[][]::new);
        next = Arrays.stream(degrees).mapToObj(int[]::new).toArray(int[][]::new);
        for (int i = all.size() - 1; i >= 0; i--) {
            if (!without.get(i)) {
                add(all.get(i).one(), all.get(i).other(), i, degrees);
                add(all.get(i).other(), all.get(i).one(), i, degrees);
            }
        }
        stepOf = all.stream().mapToInt(Cable::step).toArray();
        idle = new boolean[map.nodes()];
        map.idle().stream().filter(node -> node < idle.length).forEach(node -> idle[node] = true);
        steps = present.stream().toArray();
        counted = new int[31][map.nodes()][];
    }

    private void add(int from, int to, int cable, int[] left) {
        int at = --left[from];
        cables[from][at] = cable;
        next[from][at] = to;
    }

    int step(int cable) {
        return stepOf[cable];
    }

    boolean isIdle(int node) {
        return idle[node];
    }

    int[] cables(int node) {
        return cables[node];
    }

    int[] next(int node) {
        return next[node];
    }

    /** The hops from a node to each, over cables of that step or faster, through nodes that relay. */
    int[] from(int node, int step) {
        int[] known = counted[step][node];
        if (known == null) {
            known = count(node, step);
            counted[step][node] = known;
        }
        return known;
    }

    private int[] count(int from, int step) {
        int[] hops = new int[map.nodes()];
        Arrays.fill(hops, FAR);
        hops[from] = 0;
        int[] queue = new int[map.nodes()];
        queue[0] = from;
        int end = 1;
        for (int begin = 0; begin < end; begin++) {
            int at = queue[begin];
            if (hops[at] > RouteTable.MAX_RELAYS || (at != from && idle[at])) {
                continue;
            }
            for (int i = 0; i < next[at].length; i++) {
                int to = next[at][i];
                if (hops[to] == FAR && stepOf[cables[at][i]] >= step) {
                    hops[to] = hops[at] + 1;
                    queue[end++] = to;
                }
            }
        }
        return hops;
    }

    /** The step whose routes between two nodes carry most: its speed divided by the hops; less than 0 for none. */
    int best(int from, int to) {
        int best = -1;
        long hopsOfBest = 1;
        for (int i = steps.length - 1; i >= 0; i--) {
            long hops = from(from, steps[i])[to];
            if (hops < FAR && (best < 0 || Speed.of(steps[i]) * hopsOfBest > Speed.of(best) * hops)) {
                best = steps[i];
                hopsOfBest = hops;
            }
        }
        return best;
    }
}
