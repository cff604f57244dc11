package trigon.tools.plan;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import trigon.relay.table.NetworkMap;
import trigon.tools.plan.Subnets.NicAddress;

/**
 * Addresses, order of ranks and expected bandwidth of a cabling. Pure.
 *
 * @param speeds of the cables
 * @param order of the ranks, by node
 * @param withoutRelay true if a ring in this order needs no relay
 * @param connected true if cables join all nodes
 * @param relayedPairs pairs of nodes without a common cable
 * @param expected empty if there are more nodes than relays serve
 */
public record Plan(
        Cabling cabling,
        Subnets subnets,
        Speeds speeds,
        List<String> order,
        boolean withoutRelay,
        boolean connected,
        long relayedPairs,
        Optional<Expected> expected) {

    /**
     * What these cables carry.
     *
     * @param allReduce bus bandwidth of a ring all-reduce, in GB/s
     * @param traffic when all nodes send to each other
     * @param removals of each cable, then of each node
     * @param oneMore the additional cable that would bring the most; empty if none would
     */
    record Expected(double allReduce, Forecast.Traffic traffic, List<Removal> removals, Optional<OneMore> oneMore) {

        /** Number of cables and nodes without which some others have no route. */
        long parting() {
            return removals.stream().filter(each -> !each.traffic().connected()).count();
        }

        /** What each node sends in an all-to-all after the worst removal that parts no nodes. */
        double worst() {
            return removals.stream()
                    .filter(each -> each.traffic().connected())
                    .mapToDouble(each -> each.traffic().allToAll())
                    .min()
                    .orElse(0);
        }

        private double usual() {
            return allReduce + traffic.allToAll();
        }

        boolean isBetterThan(Expected other) {
            if (traffic.connected() != other.traffic.connected()) {
                return traffic.connected();
            }
            if (parting() != other.parting()) {
                return parting() < other.parting();
            }
            boolean isWorseOnce = worst() * MORE < other.worst();
            return !isWorseOnce && (worst() > other.worst() * MORE || usual() > other.usual() * MORE);
        }
    }

    /** A cable that is not there, and what it would bring. */
    public record OneMore(String from, String to, double allReduce, double allToAll, double worstAllToAll) {}

    /** Ratio from which a gain counts as one: rounding makes smaller ones. */
    private static final double MORE = 1.01;

    /** All cables that may be bought are looked at closely up to so many nodes; of more, those that save most hops. */
    private static final int FEW = 8;

    private static final int MANY = 24;

    /** Of more cables none is removed in turn: 64 nodes with 16 ports each have as many. */
    private static final int MAX_REMOVALS = 512;

    /**
     * With these cables.
     *
     * @param gigabits the speed of each; by what their ends are if it is empty
     * @param ports of each node, for one more cable
     */
    static Plan of(Cabling cabling, Subnets subnets, Optional<Double> gigabits, int ports) {
        Speeds speeds = Speeds.of(cabling, gigabits);
        Bundles bundles = Bundles.of(cabling, speeds.gigabits());
        Optional<List<Integer>> ring = bundles.ring();
        List<Integer> order =
                ring.orElseGet(() -> IntStream.range(0, bundles.nodes()).boxed().toList());
        return new Plan(
                cabling,
                subnets,
                speeds,
                order.stream().map(cabling.nodes()::get).toList(),
                ring.isPresent(),
                bundles.isConnected(),
                bundles.relayedPairs(),
                bundles.nodes() > NetworkMap.MAX_NODES
                        ? Optional.empty()
                        : Optional.of(withOneMore(cabling, gigabits, ports, bundles)));
    }

    private static Expected withOneMore(Cabling cabling, Optional<Double> gigabits, int ports, Bundles bundles) {
        Expected now = expected(cabling, gigabits);
        Expected best = now;
        Optional<OneMore> found = Optional.empty();
        for (int[] ends : candidates(cabling, ports, bundles)) {
            String from = cabling.nodes().get(ends[0]);
            String to = cabling.nodes().get(ends[1]);
            Expected more = expected(cabling.with(from, to, ports).orElseThrow(), gigabits);
            if (more.isBetterThan(best)) {
                best = more;
                found = Optional.of(
                        new OneMore(from, to, more.allReduce(), more.traffic().allToAll(), more.worst()));
            }
        }
        return new Expected(now.allReduce(), now.traffic(), now.removals(), found);
    }

    /** Pairs of nodes with free ports, those first between which a cable saves most hops. */
    private static List<int[]> candidates(Cabling cabling, int ports, Bundles bundles) {
        int nodes = bundles.nodes();
        int[][] hops = IntStream.range(0, nodes).mapToObj(bundles::hops).toArray(int[][]::new);
        List<Integer> free = IntStream.range(0, nodes)
                .filter(node -> cabling.hasFreePort(cabling.nodes().get(node), ports))
                .boxed()
                .toList();
        List<int[]> found = new ArrayList<>();
        for (int one : free) {
            for (int other : free) {
                if (one < other) {
                    found.add(new int[] {one, other});
                }
            }
        }
        int most = nodes <= FEW
                ? found.size()
                : nodes <= MANY ? 16 : cabling.cables().size() > MAX_REMOVALS ? 0 : 2;
        return found.stream()
                .sorted(Comparator.comparingLong(ends -> -saved(hops, ends[0], ends[1])))
                .limit(most)
                .toList();
    }

    private static long saved(int[][] hops, int one, int other) {
        long saved = 0;
        for (int from = 0; from < hops.length; from++) {
            for (int to = 0; to < hops.length; to++) {
                int over = hops[from][one] + 1 + hops[other][to];
                saved += Math.max(0, hops[from][to] - over);
            }
        }
        return saved;
    }

    private static Expected expected(Cabling cabling, Optional<Double> gigabits) {
        Bundles bundles = Bundles.of(cabling, Speeds.of(cabling, gigabits).gigabits());
        Forecast forecast = Forecast.of(bundles);
        Forecast.Traffic traffic = forecast.traffic();
        List<Integer> order = bundles.ring()
                .orElseGet(() -> IntStream.range(0, bundles.nodes()).boxed().toList());
        return new Expected(
                traffic.connected() ? forecast.ring(order) : 0,
                traffic,
                removals(cabling, gigabits, forecast),
                Optional.empty());
    }

    private static List<Removal> removals(Cabling cabling, Optional<Double> gigabits, Forecast forecast) {
        List<Removal> removals = new ArrayList<>();
        Collection<List<Integer>> wires = Speeds.wires(cabling);
        for (List<Integer> wire : wires.size() > MAX_REMOVALS ? List.<List<Integer>>of() : wires) {
            Cabling.Cable cable = cabling.cables().get(wire.getFirst());
            int one = cabling.nodes().indexOf(cable.from());
            int other = cabling.nodes().indexOf(cable.to());
            double left = left(cabling, wire, gigabits);
            removals.add(new Removal(cable.from() + "-" + cable.to(), "", forecast.withoutCable(one, other, left)));
        }
        for (int node = 0; node < cabling.nodes().size() && cabling.nodes().size() > 2; node++) {
            removals.add(new Removal("", cabling.nodes().get(node), forecast.withoutNode(node)));
        }
        return removals;
    }

    /** Speed of the other cables between the two nodes without one, in Gbit/s. */
    private static double left(Cabling cabling, List<Integer> wire, Optional<Double> gigabits) {
        Cabling.Cable cable = cabling.cables().get(wire.getFirst());
        boolean isOnly = cabling.cables().stream().filter(cable::isBeside).count() == wire.size();
        if (isOnly) {
            return 0;
        }
        Cabling rest = cabling.without(wire);
        return Bundles.of(rest, Speeds.of(rest, gigabits).gigabits())
                .between(cabling.nodes().indexOf(cable.from()), cabling.nodes().indexOf(cable.to()));
    }

    double allReduce() {
        return expected.map(Expected::allReduce).orElse(0.0);
    }

    double allToAll() {
        return expected.map(each -> each.traffic().allToAll()).orElse(0.0);
    }

    Optional<OneMore> oneMore() {
        return expected.flatMap(Expected::oneMore);
    }

    /** The cluster file, the same for all nodes, in the order of the ranks. */
    String clusterFile() {
        StringBuilder file = new StringBuilder("version: 1\nnodes:\n");
        for (String node : order) {
            file.append("  %s:%n    nics:%n".formatted(node));
            nics(node)
                    .forEach(nic ->
                            file.append("    - {device: %s, address: %s}%n".formatted(nic.nic(), nic.address())));
        }
        return file.toString();
    }

    /** The interfaces of a node, with their addresses. */
    List<NicAddress> nics(String node) {
        return subnets.byNode().getOrDefault(node, List.of());
    }
}
