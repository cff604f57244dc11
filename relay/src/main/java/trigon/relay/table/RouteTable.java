package trigon.relay.table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The routes between all nodes of a map, both directions of a pair by the same ones: those that carry most, and of
 * these the ones whose cables have least to do if all pairs send as much. Whole numbers alone decide, so that all nodes
 * with the same map have the same table. Immutable but for what is counted on the way; any thread.
 */
public final class RouteTable {

    /** Relays on a route, at most. */
    public static final int MAX_RELAYS = 15;

    /** Parts of what a pair sends, each of which has a route. */
    public static final int UNITS = 4;

    /** So often each unit is placed again, knowing all others. */
    private static final int ROUNDS = 3;

    /** Two nodes, with the routes of their units. */
    private static final class Pair {

        private final int one;
        private final int other;
        private final int hops;
        private final List<Walk> units;

        Pair(int one, int other, int hops) {
            this.one = one;
            this.other = other;
            this.hops = hops;
            units = new ArrayList<>(UNITS);
        }

        Pair(Pair other) {
            one = other.one;
            this.other = other.other;
            hops = other.hops;
            units = new ArrayList<>(other.units);
        }

        /** Any order that is the same everywhere, and follows no structure of the map. */
        int hash() {
            int mixed = (one * NetworkMap.MAX_NODES + other) * 0x9E3779B1;
            return mixed ^ mixed >>> 13;
        }
    }

    private final NetworkMap map;
    private final BitSet dead;

    /** By {@link #key}, in the order in which they are placed. */
    private final Map<Integer, Pair> pairs = new LinkedHashMap<>();

    private final int[] load;

    private RouteTable(NetworkMap map, BitSet dead, int[] load) {
        this.map = map;
        this.dead = (BitSet) dead.clone();
        this.load = load;
    }

    /**
     * The table of a map.
     *
     * @param dead cables that carry nothing now: only the units that were on them have other routes for that
     */
    public static RouteTable of(NetworkMap map, BitSet dead) {
        RouteTable table =
                new RouteTable(map, new BitSet(), new int[map.cables().size()]);
        table.placeAll();
        return dead.isEmpty() ? table : table.without(dead);
    }

    /** The same once more cables are dead. */
    public RouteTable without(BitSet more) {
        BitSet all = (BitSet) more.clone();
        all.or(dead);
        RouteTable table = new RouteTable(map, all, loads());
        pairs.forEach((key, pair) -> table.pairs.put(key, new Pair(pair)));
        table.replace();
        return table;
    }

    private void placeAll() {
        Hops hops = new Hops(map, dead);
        List<Pair> all = new ArrayList<>();
        for (int one = 0; one < map.nodes(); one++) {
            for (int other = one + 1; other < map.nodes(); other++) {
                int step = hops.best(one, other);
                if (step >= 0) {
                    all.add(new Pair(one, other, hops.from(one, step)[other]));
                }
            }
        }
        all.sort(Comparator.comparingInt((Pair pair) -> -pair.hops)
                .thenComparingInt(Pair::hash)
                .thenComparingInt(pair -> key(pair.one, pair.other)));
        all.forEach(pair -> pairs.put(key(pair.one, pair.other), pair));
        place(
                all.stream()
                        .flatMap(pair -> Collections.nCopies(UNITS, pair).stream())
                        .toList(),
                hops);
    }

    /** Has the units on dead cables take other routes. */
    private void replace() {
        List<Pair> displaced = new ArrayList<>();
        for (Pair pair : pairs.values()) {
            for (Walk walk : List.copyOf(pair.units)) {
                if (walk.cables().stream().anyMatch(dead::get)) {
                    pair.units.remove(walk);
                    count(walk, -1);
                    displaced.add(pair);
                }
            }
        }
        place(displaced, new Hops(map, dead));
    }

    /**
     * Places units, and places each again, knowing all others.
     *
     * @param units the pair of each, in the order in which they are placed
     */
    private void place(List<Pair> units, Hops hops) {
        Placing placing = new Placing(map, hops, load);
        List<Optional<Walk>> walks = new ArrayList<>(Collections.nCopies(units.size(), Optional.empty()));
        for (int round = 0; round <= ROUNDS; round++) {
            for (int unit = 0; unit < units.size(); unit++) {
                walks.get(unit).ifPresent(walk -> count(walk, -1));
                Optional<Walk> best = placing.best(units.get(unit).one, units.get(unit).other);
                best.ifPresent(walk -> count(walk, 1));
                walks.set(unit, best);
            }
        }
        for (int unit = 0; unit < units.size(); unit++) {
            walks.get(unit).ifPresent(units.get(unit).units::add);
        }
        units.forEach(pair -> apart(pair.units));
    }

    /** Those over the same relays not one after the other: a few connections take the first ones. */
    private static void apart(List<Walk> units) {
        Map<List<Integer>, Integer> seen = new HashMap<>();
        Map<Integer, List<Walk>> turns = new TreeMap<>();
        units.forEach(walk -> turns.computeIfAbsent(seen.merge(walk.nodes(), 1, Integer::sum), _ -> new ArrayList<>())
                .add(walk));
        units.clear();
        turns.values().forEach(units::addAll);
    }

    private void count(Walk walk, int sign) {
        walk.cables().forEach(cable -> load[cable] += sign);
    }

    private static int key(int one, int other) {
        return one * NetworkMap.MAX_NODES + other;
    }

    public NetworkMap map() {
        return map;
    }

    /** The units' routes from a node to another, {@link #UNITS} of them, some the same; none if nothing joins them. */
    public List<Walk> units(int from, int to) {
        Pair pair = pairs.get(key(Math.min(from, to), Math.max(from, to)));
        Stream<Walk> units = pair == null ? Stream.empty() : pair.units.stream();
        return units.map(walk -> from < to ? walk : walk.reversed()).toList();
    }

    /** The hops of the longest of the units' routes between two nodes; 0 if nothing joins them. */
    public int hops(int from, int to) {
        Pair pair = pairs.get(key(Math.min(from, to), Math.max(from, to)));
        int hops = 0;
        for (int unit = 0; pair != null && unit < pair.units.size(); unit++) {
            hops = Math.max(hops, pair.units.get(unit).cables().size());
        }
        return hops;
    }

    /** The route between two nodes that carries most of those without some cables, and has the least load. */
    public Optional<Walk> without(int from, int to, BitSet cables) {
        BitSet all = (BitSet) cables.clone();
        all.or(dead);
        int one = Math.min(from, to);
        return new Placing(map, new Hops(map, all), load)
                .best(one, Math.max(from, to))
                .map(walk -> from == one ? walk : walk.reversed());
    }

    /** The units on each cable, by its number: of each pair that it carries wholly, {@link #UNITS}. */
    public int[] loads() {
        return Arrays.copyOf(load, load.length);
    }
}
