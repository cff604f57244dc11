package trigon.stream.hop;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import trigon.stream.hop.SimulatedCircuit.Flaw;

/**
 * Rings, each of whose nodes sends to others through up to four relays and relays for all, with windows of one to three
 * chunks; nodes stop and continue, and hops fail. What comes is a prefix of what was sent, no memory is needed beyond
 * the slots, and once all nodes run everything comes across. {@code -Dtrigon.stream.hop.rings=} says how many rings,
 * {@code -Dtrigon.seed=} where they begin.
 */
class RelaysSimulationTest {

    private static final long RINGS = Long.getLong("trigon.stream.hop.rings", 1000);
    private static final int MAX_STEPS = 300;
    private static final int MAX_RELAYS = 4;

    @Test
    void everythingComesAcross() {
        Long given = Long.getLong("trigon.seed");
        long first = given != null ? given : ThreadLocalRandom.current().nextLong(1L << 40);
        System.out.println("rings " + first + " to " + (first + RINGS - 1));
        LongStream.range(first, first + RINGS).parallel().forEach(seed -> run(seed, Flaw.NONE));
    }

    @ParameterizedTest
    @EnumSource(value = Flaw.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void findsWhatIsDoneWrong(Flaw flaw) {
        assertThatThrownBy(() -> LongStream.range(0, 1000).forEach(seed -> run(seed, flaw)))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("seed")
                .hasMessageEndingWith(flaw == Flaw.NO_RECEIVES_FOR_CREDITS ? "without a receive" : "stuck");
    }

    private static void run(long seed, Flaw flaw) {
        SplittableRandom random = new SplittableRandom(seed);
        int nodes = 3 + random.nextInt(MAX_RELAYS);
        List<SimulatedCircuit> circuits = new ArrayList<>();
        for (int node = 0; node < nodes; node++) {
            circuits.add(new SimulatedCircuit(route(node, nodes, random), random.nextInt(12), flaw, random));
        }
        boolean[] stopped = new boolean[nodes];
        try {
            for (int step = random.nextInt(MAX_STEPS); step > 0; step--) {
                if (random.nextInt(32) == 0) {
                    int node = random.nextInt(nodes);
                    stopped[node] = !stopped[node];
                } else if (random.nextInt(512) == 0) {
                    circuits.get(random.nextInt(nodes)).fail();
                } else {
                    SimulatedCircuit circuit = circuits.get(random.nextInt(nodes));
                    act(circuit, random.nextInt(4), random.nextInt(circuit.hops()), stopped);
                }
            }
            settle(circuits, new boolean[nodes]);
        } catch (AssertionError e) {
            throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
        }
    }

    /** Along the ring, one direction or the other, with at least one relay. */
    private static List<Integer> route(int first, int nodes, SplittableRandom random) {
        int hops = 2 + random.nextInt(Math.min(MAX_RELAYS, nodes - 2));
        int step = random.nextBoolean() ? 1 : nodes - 1;
        List<Integer> route = new ArrayList<>();
        for (int i = 0; i <= hops; i++) {
            route.add((first + i * step) % nodes);
        }
        return route;
    }

    private static boolean act(SimulatedCircuit circuit, int action, int hop, boolean[] stopped) {
        return action < 2 ? circuit.land(hop, action == 0) : circuit.work(hop, action == 2, stopped);
    }

    private static void settle(List<SimulatedCircuit> circuits, boolean[] stopped) {
        boolean moved = true;
        while (moved) {
            moved = false;
            for (SimulatedCircuit circuit : circuits) {
                for (int action = 0; action < 4; action++) {
                    for (int hop = 0; hop < circuit.hops(); hop++) {
                        moved |= act(circuit, action, hop, stopped);
                    }
                }
            }
        }
        if (!circuits.stream().allMatch(SimulatedCircuit::isDone)) {
            throw new AssertionError("stuck");
        }
    }
}
