package trigon.relay.table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Finds, of the routes between two nodes that carry most, the one whose busiest cable has least to do; then the one all
 * of whose cables have. One thread.
 */
final class Placing {

    private static final long MAX_TERM = 1L << 56;

    private final NetworkMap map;
    private final Hops hops;
    private final int[] load;
    private final long[] weights;

    /** Load of the busiest cable on the way to each node; then the sum of squares, and the last cable. */
    private final long[] busiest;

    private final long[] sum;
    private final int[] cable;

    /** Those that were reached, nearest first. */
    private final int[] reached;

    private int count;

    /** @param load of each cable, in units, as it changes */
    Placing(NetworkMap map, Hops hops, int[] load) {
        this.map = map;
        this.hops = hops;
        this.load = load;
        weights = map.cables().stream()
                .mapToLong(each -> Speed.weight(each.step()))
                .toArray();
        busiest = new long[map.nodes()];
        sum = new long[map.nodes()];
        cable = new int[map.nodes()];
        reached = new int[map.nodes()];
    }

    /** The best one; empty if there is none. */
    Optional<Walk> best(int from, int to) {
        int step = hops.best(from, to);
        if (step < 0) {
            return Optional.empty();
        }
        int[] done = hops.from(from, step);
        int[] left = hops.from(to, step);
        Arrays.fill(busiest, Long.MAX_VALUE);
        Arrays.fill(cable, -1);
        busiest[from] = 0;
        sum[from] = 0;
        reached[0] = from;
        count = 1;
        for (int i = 0; reached[i] != to; i++) {
            extend(reached[i], to, step, done, left);
        }
        return Optional.of(walk(from, to));
    }

    private void extend(int node, int to, int step, int[] done, int[] left) {
        int[] cables = hops.cables(node);
        int[] nexts = hops.next(node);
        for (int i = 0; i < cables.length; i++) {
            int next = nexts[i];
            int over = cables[i];
            boolean nearer = done[next] == done[node] + 1
                    && done[next] + left[next] == done[to]
                    && (next == to || !hops.isIdle(next));
            if (nearer && hops.step(over) >= step) {
                if (cable[next] < 0) {
                    reached[count++] = next;
                }
                relax(node, next, over);
            }
        }
    }

    private void relax(int node, int next, int over) {
        long weight = weights[over];
        long most = Math.max(busiest[node], (load[over] + 1) * weight);
        long squares = sum[node] + Math.min(MAX_TERM, saturated(weight * weight, 2L * load[over] + 1));
        if (most < busiest[next] || (most == busiest[next] && squares < sum[next])) {
            busiest[next] = most;
            sum[next] = squares;
            cable[next] = over;
        }
    }

    private static long saturated(long one, long other) {
        return Math.multiplyHigh(one, other) == 0 && one * other >= 0 ? one * other : Long.MAX_VALUE;
    }

    private Walk walk(int from, int to) {
        List<Integer> nodes = new ArrayList<>(List.of(to));
        List<Integer> cables = new ArrayList<>();
        for (int at = to; at != from; at = nodes.getLast()) {
            cables.add(cable[at]);
            nodes.add(map.cables().get(cable[at]).from(at));
        }
        return new Walk(nodes.reversed(), cables.reversed());
    }
}
