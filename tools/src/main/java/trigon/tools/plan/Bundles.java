package trigon.tools.plan;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import trigon.relay.table.NetworkMap;
import trigon.routing.Bandwidth;

/** Nodes, and of each two the cables between them together. */
final class Bundles {

    private static final int MAX_STEPS = 200_000;

    private final int nodes;
    private final Map<Integer, List<Integer>> neighbours = new HashMap<>();

    /** In Gbit/s, by the two nodes. */
    private final Map<Long, Double> gigabits = new TreeMap<>();

    private Bundles(int nodes) {
        this.nodes = nodes;
        for (int node = 0; node < nodes; node++) {
            neighbours.put(node, new ArrayList<>());
        }
    }

    /** @param gigabits of each cable, in their order */
    static Bundles of(Cabling cabling, List<Double> gigabits) {
        Bundles bundles = new Bundles(cabling.nodes().size());
        Map<String, Integer> numbers = new HashMap<>();
        cabling.nodes().forEach(name -> numbers.put(name, numbers.size()));
        for (int i = 0; i < cabling.cables().size(); i++) {
            Cabling.Cable cable = cabling.cables().get(i);
            bundles.join(numbers.getOrDefault(cable.from(), 0), numbers.getOrDefault(cable.to(), 0), gigabits.get(i));
        }
        return bundles;
    }

    private void join(int one, int other, double more) {
        if (!of(one).contains(other)) {
            of(one).add(other);
            of(other).add(one);
        }
        gigabits.merge(key(one, other), more, Double::sum);
    }

    private static long key(int one, int other) {
        return (long) Math.min(one, other) << 32 | Math.max(one, other);
    }

    int nodes() {
        return nodes;
    }

    private List<Integer> of(int node) {
        return neighbours.getOrDefault(node, List.of());
    }

    /** As the routes see it: a cable for each bundle, in the order of {@link #gigabits}. */
    NetworkMap map() {
        List<NetworkMap.Cable> cables = gigabits.entrySet().stream()
                .map(each -> new NetworkMap.Cable(
                        (int) (each.getKey() >>> 32),
                        each.getKey().intValue(),
                        Bandwidth.of((int) Math.min(Integer.MAX_VALUE, Math.max(2, each.getValue() * 1000)))
                                .step()))
                .toList();
        return new NetworkMap(nodes, new BitSet(), cables);
    }

    /** Of each bundle, in each direction. */
    List<Double> gigabits() {
        return List.copyOf(gigabits.values());
    }

    /** All cables between two nodes together, in Gbit/s; 0 without one. */
    double between(int one, int other) {
        return gigabits.getOrDefault(key(one, other), 0.0);
    }

    /** Tells whether routes join all of them. */
    boolean isConnected() {
        return Arrays.stream(hops(0)).allMatch(hops -> hops < nodes);
    }

    /** Hops from a node to each; as many as there are nodes where none lead there. */
    int[] hops(int from) {
        int[] hops = new int[nodes];
        Arrays.fill(hops, nodes);
        hops[from] = 0;
        ArrayDeque<Integer> todo = new ArrayDeque<>(List.of(from));
        while (!todo.isEmpty()) {
            int at = todo.remove();
            for (int next : of(at)) {
                if (hops[next] == nodes) {
                    hops[next] = hops[at] + 1;
                    todo.add(next);
                }
            }
        }
        return hops;
    }

    /** Number of pairs of nodes without a common cable. */
    long relayedPairs() {
        return (long) nodes * (nodes - 1) / 2 - gigabits.size();
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
                .sorted(Comparator.comparingLong((Integer node) ->
                                of(node).stream().filter(each -> !on[each]).count())
                        .thenComparingInt(node -> node))
                .toList());
    }
}
