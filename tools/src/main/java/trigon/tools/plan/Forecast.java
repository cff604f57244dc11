package trigon.tools.plan;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import trigon.relay.table.NetworkMap;
import trigon.relay.table.RouteTable;
import trigon.relay.table.Walk;

/**
 * Traffic of collectives over cables, by the routes that connections take. An estimate: it leaves out the cost of
 * latency and processors.
 */
final class Forecast {

    /**
     * Traffic when all nodes send to each other.
     *
     * @param connected whether each two have a route
     * @param allToAll rate at which each node sends, in GB/s
     * @param hops of the longest route
     */
    record Traffic(boolean connected, double allToAll, int hops) {}

    private static final double BITS_OF_A_BYTE = 8;

    private final NetworkMap map;
    private final double[] gigabits;
    private final RouteTable table;

    private Forecast(NetworkMap map, List<Double> gigabits, RouteTable table) {
        this.map = map;
        this.gigabits = gigabits.stream().mapToDouble(each -> each).toArray();
        this.table = table;
    }

    /** @param bundles between {@link NetworkMap#MAX_NODES} nodes at most */
    static Forecast of(Bundles bundles) {
        NetworkMap map = bundles.map();
        return new Forecast(map, bundles.gigabits(), RouteTable.of(map, new BitSet()));
    }

    /** The traffic with all cables. */
    Traffic traffic() {
        return traffic(table, gigabits, new BitSet());
    }

    /** The traffic without a node. */
    Traffic withoutNode(int node) {
        BitSet cables = new BitSet();
        IntStream.range(0, map.cables().size())
                .filter(i ->
                        map.cables().get(i).one() == node || map.cables().get(i).other() == node)
                .forEach(cables::set);
        BitSet gone = new BitSet();
        gone.set(node);
        return traffic(table.without(cables), gigabits, gone);
    }

    /**
     * The traffic without a cable.
     *
     * @param left what the bundle still carries
     */
    Traffic withoutCable(int one, int other, double left) {
        int bundle = map.cables()
                .indexOf(map.cables().stream()
                        .filter(cable -> cable.one() == Math.min(one, other) && cable.other() == Math.max(one, other))
                        .findFirst()
                        .orElseThrow());
        double[] slower = gigabits.clone();
        slower[bundle] = left;
        BitSet dead = new BitSet();
        dead.set(bundle, left <= 0);
        return traffic(left > 0 ? table : table.without(dead), slower, new BitSet());
    }

    private Traffic traffic(RouteTable routes, double[] speeds, BitSet gone) {
        int hops = 0;
        for (int from = gone.nextClearBit(0); from < map.nodes(); from = gone.nextClearBit(from + 1)) {
            for (int to = gone.nextClearBit(from + 1); to < map.nodes(); to = gone.nextClearBit(to + 1)) {
                int longest = routes.hops(from, to);
                if (longest == 0) {
                    return new Traffic(false, 0, 0);
                }
                hops = Math.max(hops, longest);
            }
        }
        int others = map.nodes() - gone.cardinality() - 1;
        double rate = least(Arrays.stream(routes.loads()).asDoubleStream().toArray(), speeds);
        return new Traffic(true, others < 1 ? 0 : rate * others / BITS_OF_A_BYTE, hops);
    }

    /** The rate in Gbit/s of what has so many units on each cable. */
    private static double least(double[] units, double[] speeds) {
        return IntStream.range(0, units.length)
                .filter(cable -> units[cable] > 0)
                .mapToDouble(cable -> speeds[cable] * RouteTable.UNITS / units[cable])
                .min()
                .orElse(0);
    }

    /** The rate of each connection of a ring in this order of the nodes, in GB/s; the busiest cable decides. */
    double ring(List<Integer> order) {
        double[] forth = new double[gigabits.length];
        double[] back = new double[gigabits.length];
        for (int i = 0; i < order.size(); i++) {
            for (Walk walk : table.units(order.get(i), order.get((i + 1) % order.size()))) {
                for (int hop = 0; hop < walk.cables().size(); hop++) {
                    int cable = walk.cables().get(hop);
                    boolean isForth =
                            map.cables().get(cable).one() == walk.nodes().get(hop);
                    (isForth ? forth : back)[cable]++;
                }
            }
        }
        return Math.min(least(forth, gigabits), least(back, gigabits)) / BITS_OF_A_BYTE;
    }
}
