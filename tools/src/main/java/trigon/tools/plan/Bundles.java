package trigon.tools.plan;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Traffic of a collective over these cables: nodes without a common cable use a shortest route, over relays. An
 * estimate: it leaves out the cost of latency and processors.
 */
final class PlannedTraffic {

    private static final int MAX_STEPS = 200_000;

    private final int nodes;

    /** Cables between each two, by their numbers. */
    private final Map<Integer, List<Integer>> neighbours = new HashMap<>();

    /** Speed of all cables between two nodes together, in Gbit/s. */
    private final Map<Long, Double> between = new HashMap<>();

    private final int[][] next;

    /** @param gigabits of each cable, in their order */
    PlannedTraffic(Cabling cabling, List<Double> gigabits) {
        nodes = cabling.nodes().size();
        Map<String, Integer> numbers = new HashMap<>();
        for (int i = 0; i < nodes; i++) {
            numbers.put(cabling.nodes().get(i), i);
            neighbours.put(i, new ArrayList<>());
        }
        for (int i = 0; i < cabling.cables().size(); i++) {
            Cabling.Cable cable = cabling.cables().get(i);
            int a = numbers.getOrDefault(cable.from(), 0);
            int b = numbers.getOrDefault(cable.to(), 0);
            if (!of(a).contains(b)) {
                of(a).add(b);
                of(b).add(a);
            }
            between.merge(edge(a, b), gigabits.get(i), Double::sum);
            between.merge(edge(b, a), gigabits.get(i), Double::sum);
        }
        next = new int[nodes][];
        for (int to = 0; to < nodes; to++) {
            next[to] = firstSteps(to);
        }
    }

    private List<Integer> of(int node) {
        return neighbours.getOrDefault(node, List.of());
    }

    private static long edge(int from, int to) {
        return ((long) from << 32) | to;
    }

    /** For each node, where to go first on a shortest way to that one; itself there, -1 if there is none. */
    private int[] firstSteps(int to) {
        int[] steps = new int[nodes];
        Arrays.fill(steps, -1);
        steps[to] = to;
        ArrayDeque<Integer> queue = new ArrayDeque<>(List.of(to));
        while (!queue.isEmpty()) {
            int at = queue.remove();
            for (int from : of(at)) {
                if (steps[from] < 0) {
                    steps[from] = at;
                    queue.add(from);
                }
            }
        }
        return steps;
    }

    /** Tells whether routes join all of them. */
    boolean isConnected() {
        return Arrays.stream(next[0]).allMatch(step -> step >= 0);
    }

    /** Number of pairs of nodes without a common cable. */
    long relayedPairs() {
        long pairs = 0;
        for (int i = 0; i < nodes; i++) {
            pairs += nodes - 1 - of(i).size();
        }
        return pairs / 2;
    }

    /** An order in which each node has a cable to the next, and the last to the first; empty if none was found. */
    Optional<List<Integer>> ring() {
        if (nodes == 2) {
            return of(0).contains(1) ? Optional.of(List.of(0, 1)) : Optional.empty();
        }
        List<Integer> way = new ArrayList<>(List.of(0));
        boolean[] on = new boolean[nodes];
        on[0] = true;
        List<ArrayDeque<Integer>> open = new ArrayList<>(List.of(choices(0, on)));
        for (int steps = 0; steps < MAX_STEPS && !way.isEmpty(); steps++) {
            int last = way.getLast();
            if (way.size() == nodes && of(last).contains(0)) {
                return Optional.of(way);
            }
            ArrayDeque<Integer> choices = open.getLast();
            if (choices.isEmpty()) {
                on[last] = false;
                way.removeLast();
                open.removeLast();
            } else {
                int chosen = choices.remove();
                way.add(chosen);
                on[chosen] = true;
                open.add(choices(chosen, on));
            }
        }
        return Optional.empty();
    }

    /** Those with the fewest cables to nodes that are left go first: later they could not be reached. */
    private ArrayDeque<Integer> choices(int from, boolean[] on) {
        return new ArrayDeque<>(of(from).stream()
                .filter(node -> !on[node])
                .sorted(java.util.Comparator.comparingLong((Integer node) ->
                                of(node).stream().filter(each -> !on[each]).count())
                        .thenComparingInt(node -> node))
                .toList());
    }

    /** Rate of each connection of a ring in this order of the nodes, in Gbit/s; the busiest cable decides. */
    double ringGigabits(List<Integer> order) {
        Map<Long, Double> loads = new HashMap<>();
        for (int i = 0; i < order.size(); i++) {
            load(order.get(i), order.get((i + 1) % order.size()), loads);
        }
        return least(loads);
    }

    /** Rate from each node to each other one at the same time, in Gbit/s. Several shortest routes have equal shares. */
    double allToAllGigabits() {
        Map<Long, Double> loads = new HashMap<>();
        for (int to = 0; to < nodes; to++) {
            share(to, loads);
        }
        return least(loads);
    }

    /** Adds the load of all nodes that send to one: the farthest first, each passes on its own data and others'. */
    private void share(int to, Map<Long, Double> loads) {
        int[] distances = new int[nodes];
        Arrays.fill(distances, -1);
        distances[to] = 0;
        List<Integer> nearestFirst = new ArrayList<>(List.of(to));
        for (int i = 0; i < nearestFirst.size(); i++) {
            int at = nearestFirst.get(i);
            for (int from : of(at)) {
                if (distances[from] < 0) {
                    distances[from] = distances[at] + 1;
                    nearestFirst.add(from);
                }
            }
        }
        double[] flows = new double[nodes];
        for (int from : nearestFirst.reversed()) {
            List<Integer> nearer = of(from).stream()
                    .filter(node -> distances[node] == distances[from] - 1)
                    .toList();
            for (int node : nearer) {
                double flow = (1 + flows[from]) / nearer.size();
                flows[node] += flow;
                loads.merge(edge(from, node), flow, Double::sum);
            }
        }
    }

    private void load(int from, int to, Map<Long, Double> loads) {
        for (int at = from; at != to && next[to][at] >= 0; at = next[to][at]) {
            loads.merge(edge(at, next[to][at]), 1.0, Double::sum);
        }
    }

    private double least(Map<Long, Double> loads) {
        double least = Double.MAX_VALUE;
        for (Map.Entry<Long, Double> each : loads.entrySet()) {
            least = Math.min(least, between.getOrDefault(each.getKey(), 0.0) / each.getValue());
        }
        return least;
    }
}
