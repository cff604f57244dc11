package trigon.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * How long it takes until every node knows every cable from both of its ends, in simulated time, and what that costs.
 * {@code -Dtrigon.nodes=3,256} takes other numbers of nodes, {@code -Dtrigon.table=FILE} writes what was measured.
 */
class ConvergenceTest {

    private static final long SEED = Long.getLong("trigon.seed", 42);
    private static final int STEP_MILLIS = 10;
    private static final int GOAL_MILLIS = 3000;
    private static final int GIVEN_UP_MILLIS = 10_000;
    private static final int STEADY_MILLIS = 2000;
    private static final int LEAST_NODES = 48;

    /** A node has so many links at most. */
    private static final int MOST_SPOKES = NodeRecord.MOST_LINKS;

    /** A record takes 10 ms from node to node, and is to be everywhere within the goal. */
    private static final int MOST_OF_A_RING = 256;

    /** Of a node, each other process: its record, as bytes and as objects. */
    private static final long MOST_BYTES_OF_A_RECORD = 4096;

    private record Cost(String shape, int nodes, long millis, long firstRate, long steadyRate, long memory) {

        String row() {
            return "%s\t%d\t%d\t%d\t%d\t%d".formatted(shape, nodes, millis, firstRate, steadyRate, memory);
        }
    }

    @Test
    void allIsKnownWithin3Seconds() throws IOException {
        List<Cost> costs = new ArrayList<>();
        for (String count : System.getProperty("trigon.nodes", "3,16").split(",", -1)) {
            int nodes = Integer.parseInt(count);
            if (nodes <= MOST_OF_A_RING) {
                costs.add(measure("ring", nodes, Simulation.ring(nodes)));
            }
            costs.add(measure("switch", nodes, List.of(new int[] {0, -1})));
            if (nodes <= MOST_SPOKES) {
                costs.add(measure("line", nodes, Simulation.line(nodes)));
                costs.add(measure("star", nodes, Simulation.star(nodes)));
                costs.add(measure("mesh", nodes, Simulation.mesh(nodes)));
            }
        }
        write(costs);

        assertThat(costs).allSatisfy(cost -> {
            assertThat(cost.millis).as("seed %d: %s", SEED, cost).isLessThanOrEqualTo(GOAL_MILLIS);
            assertThat(cost.memory)
                    .as("seed %d: %s", SEED, cost)
                    .isLessThan(MOST_BYTES_OF_A_RECORD * (cost.nodes + 16));
        });
    }

    /** So many networks that they have {@value #LEAST_NODES} nodes together: what else is in the heap is less then. */
    private static Cost measure(String shape, int nodes, List<int[]> joined) {
        List<Simulation> nets = new ArrayList<>();
        long slowest = 0;
        long first = 0;
        long steady = 0;
        do {
            Simulation net = new Simulation(nodes, joined, 0, SEED + nets.size(), Simulation.clusterKey());
            nets.add(net);
            long millis = converge(net, "switch".equals(shape) ? nodes : 2);
            slowest = Math.max(slowest, millis);
            net.runUntil(Math.max(millis, GOAL_MILLIS));
            long said = net.bytes;
            first += said * 1000 / Math.max(millis, GOAL_MILLIS);
            net.runUntil(Math.max(millis, GOAL_MILLIS) + STEADY_MILLIS);
            steady += (net.bytes - said) * 1000 / STEADY_MILLIS;
        } while (nets.size() * nodes < LEAST_NODES);
        int all = nets.size() * nodes;
        long with = usedHeap();
        nets.clear();
        return new Cost(shape, nodes, slowest, first / all, steady / all, (with - usedHeap()) / all);
    }

    private static long converge(Simulation net, int ends) {
        int known = 0; // the first so many nodes know all
        for (long millis = STEP_MILLIS; millis < GIVEN_UP_MILLIS; millis += STEP_MILLIS) {
            net.runUntil(millis);
            while (knowsAll(net.nodes.get(known), net.nodes.size(), ends)) {
                if (++known == net.nodes.size()) {
                    return millis;
                }
            }
        }
        return GIVEN_UP_MILLIS;
    }

    /** Whether it has heard of all nodes that they hear whoever is on their cables. */
    private static boolean knowsAll(Topology topology, int nodes, int ends) {
        int neighbours = Math.min(ends - 1, LinkRecord.MOST_NEIGHBOURS);
        List<NodeRecord> records = topology.records();
        return records.size() == nodes
                && records.stream()
                        .allMatch(record -> record.links().stream()
                                .allMatch(link -> link.neighbours().size() == neighbours));
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
        List<String> rows = new ArrayList<>(List.of("shape\tnodes\tms\tfirst B/s\tlater B/s\tmemory B"));
        costs.stream().map(Cost::row).forEach(rows::add);
        rows.forEach(System.err::println);
        if (!table.isEmpty()) {
            Files.write(Path.of(table), rows);
        }
    }
}
