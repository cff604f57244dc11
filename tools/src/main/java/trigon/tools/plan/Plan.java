package trigon.tools.plan;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import trigon.tools.plan.Subnets.NicAddress;

/**
 * Addresses, order of ranks and expected bandwidth of a cabling. Pure.
 *
 * @param speeds of the cables
 * @param order of the ranks, by node
 * @param withoutRelay true if a ring in this order needs no relay
 * @param relayedPairs pairs of nodes without a common cable
 * @param allReduce expected bus bandwidth of a ring all-reduce, in GB/s
 * @param allToAll expected rate at which each node sends in an all-to-all, in GB/s
 * @param oneMore the additional cable that would bring the most; empty if none would, or none was tried
 */
public record Plan(
        Cabling cabling,
        Subnets subnets,
        Speeds speeds,
        List<String> order,
        boolean withoutRelay,
        boolean connected,
        long relayedPairs,
        double allReduce,
        double allToAll,
        Optional<OneMore> oneMore) {

    /** A cable that is not there, and what it would bring. */
    public record OneMore(String from, String to, double allReduce, double allToAll) {}

    private static final int MAX_FOR_ONE_MORE = 24;
    private static final double BITS_OF_A_BYTE = 8;

    /**
     * With these cables.
     *
     * @param gigabits the speed of each; by what their ends are if it is empty
     */
    static Plan of(Cabling cabling, Subnets subnets, Optional<Double> gigabits) {
        Plan plan = of(cabling, subnets, gigabits, Optional.empty());
        List<String> nodes = cabling.nodes().size() > MAX_FOR_ONE_MORE ? List.of() : cabling.nodes();
        Optional<OneMore> best = Optional.empty();
        double most = plan.allReduce() + plan.allToAll();
        for (int i = 0; i < nodes.size(); i++) {
            for (int j = i + 1; j < nodes.size(); j++) {
                Optional<Cabling> with = cabling.with(nodes.get(i), nodes.get(j));
                if (with.isEmpty()) {
                    continue;
                }
                Plan more = of(with.get(), subnets, gigabits, Optional.empty());
                if (more.allReduce() + more.allToAll() > most * 1.01) {
                    most = more.allReduce() + more.allToAll();
                    best = Optional.of(new OneMore(nodes.get(i), nodes.get(j), more.allReduce(), more.allToAll()));
                }
            }
        }
        return best.isEmpty() ? plan : of(cabling, subnets, gigabits, best);
    }

    private static Plan of(Cabling cabling, Subnets subnets, Optional<Double> gigabits, Optional<OneMore> oneMore) {
        Speeds speeds = Speeds.of(cabling, gigabits);
        PlannedTraffic traffic = new PlannedTraffic(cabling, speeds.gigabits());
        int nodes = cabling.nodes().size();
        Optional<List<Integer>> ring = traffic.ring();
        List<Integer> order =
                ring.orElseGet(() -> IntStream.range(0, nodes).boxed().toList());
        boolean connected = traffic.isConnected();
        return new Plan(
                cabling,
                subnets,
                speeds,
                order.stream().map(cabling.nodes()::get).toList(),
                ring.isPresent(),
                connected,
                traffic.relayedPairs(),
                connected ? traffic.ringGigabits(order) / BITS_OF_A_BYTE : 0,
                connected ? traffic.allToAllGigabits() * (nodes - 1) / BITS_OF_A_BYTE : 0,
                oneMore);
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
