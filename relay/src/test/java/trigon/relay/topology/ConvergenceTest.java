package trigon.relay.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * How long it takes until every node knows every link from both of its ends, in simulated time, and what that costs:
 * memory, datagrams, and the processor, without the sockets. {@code -Dtrigon.nodes=3,256} takes other numbers of nodes,
 * {@code -Dtrigon.shapes=ring,switch} fewer shapes, {@code -Dtrigon.ring=1000} larger rings and tori,
 * {@code -Dtrigon.table=FILE} writes what was measured.
 */
class ConvergenceTest {

    private static final long SEED = Long.getLong("trigon.seed", 42);
    private static final int STEP_MILLIS = 10;
    private static final int GOAL_MILLIS = 3000;
    private static final int GOAL_OF_MANY_MILLIS = 5000;
    private static final int GIVEN_UP_MILLIS = 10_000;
    private static final int STEADY_MILLIS = 2000;
    private static final int MIN_NODES = 48;

    /** The former processes are forgotten. */
    private static final long FORGOTTEN_MILLIS = Topology.FORGOTTEN.toMillis() + 1000;

    /** A node has so many links at most. */
    private static final int MAX_SPOKES = NodeRecord.MAX_LINKS;

    /** All records of all nodes are in memory. */
    private static final int MAX_OF_A_RING = Integer.getInteger("trigon.ring", 256);

    /** Of more nodes on switches, only those that say most are nodes with all that belongs to one. */
    private static final int MAX_WITHOUT_EXTRAS = 256;

    /** More are many. */
    private static final int MANY = 256;

    /** Goals for many nodes, of which each remembers all. */
    private static final int MAX_NODES_OF_GOALS = 1000;

    /** Of a node, each other process: its record, as bytes and as objects. */
    private static final long MAX_BYTES_OF_A_RECORD = 4096;

    /**
     * What a network costs.
     *
     * @param millis until all is known; {@link #GIVEN_UP_MILLIS} if that is never
     * @param firstRate bytes in a second that a node sends in the first {@value #GOAL_MILLIS} ms, or until all is known
     * @param firstLoad millionths of a processor that a node takes then
     * @param churnMillis until all know the new processes of a tenth of the nodes
     * @param known processes that each node knows at least, in the end
     */
    private record Cost(
            String shape,
            int nodes,
            long millis,
            long firstRate,
            long steadyRate,
            long memory,
            long firstLoad,
            long steadyLoad,
            long churnMillis,
            int known) {

        static final String HEAD = "shape\tnodes\tknown after, ms\teach sends at first, B/s\tlater, B/s\tmemory, B"
                + "\tprocessor at first, ppm\tlater, ppm\tafter churn, ms\tknown";

        String row() {
            return "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d"
                    .formatted(
                            shape,
                            nodes,
                            millis,
                            firstRate,
                            steadyRate,
                            memory,
                            firstLoad,
                            steadyLoad,
                            churnMillis,
                            known);
        }

        long goalMillis() {
            return nodes <= MANY ? GOAL_MILLIS : GOAL_OF_MANY_MILLIS;
        }
    }

    @Test
    void allIsKnownWithin3Seconds() throws IOException {
        List<Cost> costs = new ArrayList<>();
        for (String count : System.getProperty("trigon.nodes", "3,16").split(",", -1)) {
            for (String shape : System.getProperty("trigon.shapes", "ring,switch,line,star,mesh,torus")
                    .split(",", -1)) {
                int nodes = Integer.parseInt(count);
                List<int[]> joined = joined(shape, nodes);
                if (!joined.isEmpty()) {
                    costs.add(measure(shape, nodes, joined));
                }
            }
        }
        write(costs);

        assertThat(costs).filteredOn(cost -> cost.nodes <= MAX_NODES_OF_GOALS).allSatisfy(cost -> {
            assertThat(cost.millis).as("seed %d: %s", SEED, cost).isLessThanOrEqualTo(cost.goalMillis());
            assertThat(cost.known).as("seed %d: %s", SEED, cost).isEqualTo(cost.nodes);
            assertThat(cost.memory).as("seed %d: %s", SEED, cost).isLessThan(MAX_BYTES_OF_A_RECORD * (cost.nodes + 16));
        });
    }

    /** None where there is no such network of so many nodes. */
    private static List<int[]> joined(String shape, int nodes) {
        return switch (shape) {
            case "ring" -> nodes <= MAX_OF_A_RING ? Simulation.ring(nodes) : List.of();
            case "switch" -> nodes > 2 ? Simulation.switched(nodes) : List.of();
            case "line" -> nodes <= MAX_SPOKES ? Simulation.line(nodes) : List.of();
            case "mesh" -> nodes <= MAX_SPOKES ? Simulation.mesh(nodes) : List.of();
            case "star" -> nodes <= MAX_SPOKES ? Simulation.star(nodes) : Simulation.starOfSwitches(nodes, MAX_SPOKES);
            case "torus" -> torus(nodes);
            default -> throw new IllegalArgumentException("no shape: " + shape);
        };
    }

    private static List<int[]> torus(int nodes) {
        int rows = (int) Math.sqrt(nodes);
        while (rows > 2 && nodes % rows != 0) {
            rows--;
        }
        return rows > 2 && nodes <= MAX_OF_A_RING ? Simulation.torus(rows, nodes / rows) : List.of();
    }

    /** So many networks that they have {@value #MIN_NODES} nodes together: what else is in the heap is less then. */
    private static Cost measure(String shape, int nodes, List<int[]> joined) {
        List<Simulation> nets = new ArrayList<>();
        boolean isSwitched = joined.stream().anyMatch(ends -> ends.length > 2);
        int full = isSwitched && nodes > MAX_WITHOUT_EXTRAS ? MAX_SPOKES + 1 : nodes;
        int least = joined.stream().mapToInt(ends -> ends.length).min().orElse(2) - 1;
        long slowest = 0;
        long slowestChurn = 0;
        long[] first = new long[2];
        long[] steady = new long[2];
        int known = nodes;
        do {
            Simulation net = new Simulation(nodes, joined, 0, SEED + nets.size(), Simulation.clusterKey());
            net.extrasFrom(full);
            nets.add(net);
            long millis = converge(net, full, least);
            slowest = Math.max(slowest, millis);
            long begin = Math.max(millis, GOAL_MILLIS);
            net.runUntil(begin);
            addRates(first, net, begin);
            net.bytes = 0;
            net.processorNanos = 0;
            net.runUntil(begin + STEADY_MILLIS);
            addRates(steady, net, STEADY_MILLIS);
            for (Topology each : net.nodes.subList(0, full)) {
                known = Math.min(known, each.records().size());
            }
            slowestChurn = Math.max(slowestChurn, churn(net, full));
            net.runUntil(net.now / Simulation.MILLI + FORGOTTEN_MILLIS);
        } while (nets.size() * nodes < MIN_NODES);
        int all = nets.size() * full;
        long memory = memory(nets, full) / all;
        return new Cost(
                shape,
                nodes,
                slowest,
                first[0] / all,
                steady[0] / all,
                memory,
                first[1] / all,
                steady[1] / all,
                slowestChurn,
                known);
    }

    /** Bytes in a second, and millionths of a processor, of all nodes that count. */
    private static void addRates(long[] sums, Simulation net, long millis) {
        sums[0] += net.bytes * 1000 / millis;
        sums[1] += net.processorNanos / millis;
    }

    /** Of the nodes that count: what is free once they are gone. */
    private static long memory(List<Simulation> nets, int full) {
        long with = usedHeap();
        nets.forEach(net -> net.nodes.subList(0, full).clear());
        long memory = with - usedHeap();
        nets.clear();
        return memory;
    }

    private static long converge(Simulation net, int full, int neighbours) {
        int known = 0; // the first so many nodes know all
        for (long millis = STEP_MILLIS; millis < GIVEN_UP_MILLIS; millis += STEP_MILLIS) {
            net.runUntil(millis);
            while (knowsAll(net.nodes.get(known), net.nodes.size(), neighbours)) {
                if (++known == full) {
                    return millis;
                }
            }
        }
        return GIVEN_UP_MILLIS;
    }

    /** Whether it has heard of all nodes that they hear whoever is on their cables. */
    private static boolean knowsAll(Topology topology, int nodes, int neighbours) {
        int enough = Math.min(neighbours, LinkRecord.MAX_NEIGHBOURS);
        List<NodeRecord> records = topology.records();
        return records.size() == nodes
                && records.stream()
                        .allMatch(record -> record.links().stream()
                                .allMatch(link ->
                                        link.crowded() || link.neighbours().size() >= enough));
    }

    /** A tenth of the nodes get new processes at the same time: how long until all others know these. */
    private static long churn(Simulation net, int full) {
        long begin = net.now / Simulation.MILLI;
        Set<Long> news = new HashSet<>();
        for (int node = net.nodes.size() - 1; node > 0; node -= 10) {
            news.add(net.restart(node));
        }
        int know = 0;
        for (long millis = STEP_MILLIS; millis < GIVEN_UP_MILLIS; millis += STEP_MILLIS) {
            net.runUntil(begin + millis);
            while (instances(net.nodes.get(know)).containsAll(news)) {
                if (++know == full) {
                    return millis;
                }
            }
        }
        return GIVEN_UP_MILLIS;
    }

    private static Set<Long> instances(Topology topology) {
        return topology.records().stream().map(NodeRecord::instance).collect(Collectors.toSet());
    }

    /** The serial collector leaves some of the dead where they are, but for each fourth time. */
    private static long usedHeap() {
        for (int i = 0; i < 4; i++) {
            System.gc();
        }
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    private static void write(List<Cost> costs) throws IOException {
        String table = System.getProperty("trigon.table", "");
        List<String> rows = new ArrayList<>(List.of(Cost.HEAD));
        costs.stream().map(Cost::row).forEach(rows::add);
        rows.forEach(System.err::println);
        if (!table.isEmpty()) {
            Files.write(Path.of(table), rows);
        }
    }
}
