package trigon.handshake.lifeline;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import trigon.handshake.lifeline.SimulatedPeers.Mutation;

/**
 * Processes that stall find no healthy path lost, and a path that is cut soon. {@code -Dtrigon.starvations=} says how
 * many pairs of processes, {@code -Dtrigon.seed=} where they begin.
 */
@Timeout(180)
class StarvationSimulationTest {

    private static final long PAIRS = Long.getLong("trigon.starvations", 300);
    private static final long CUT = TimeUnit.SECONDS.toNanos(20);

    /** Three seconds for the last stall, the same until the silence is noticed, and one for an unanswered question. */
    private static final long FOUND = TimeUnit.SECONDS.toNanos(8);

    @Test
    void aHealthyPathIsNeverFoundLostAndACutOneSoon() {
        Long given = Long.getLong("trigon.seed");
        long first = given != null ? given : ThreadLocalRandom.current().nextLong(1L << 40);
        System.out.println("pairs of processes " + first + " to " + (first + PAIRS - 1));
        LongStream.range(first, first + PAIRS).forEach(seed -> run(seed, Mutation.NONE));
    }

    @ParameterizedTest
    @EnumSource(value = Mutation.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void findsAPlantedDefect(Mutation mutation) {
        assertThatThrownBy(() -> LongStream.range(0, 1000).forEach(seed -> run(seed, mutation)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("seed");
    }

    private static void run(long seed, Mutation mutation) {
        SplittableRandom random = new SplittableRandom(seed);
        SimulatedPeers peers = new SimulatedPeers(random, mutation);
        int path = random.nextInt(2);
        try {
            peers.cut(path, CUT, random.nextBoolean());
            peers.runUntil(CUT + FOUND);
        } catch (AssertionError e) {
            throw new AssertionError("seed " + seed, e);
        }
        if (!peers.isFoundLost(path)) {
            throw new AssertionError("seed " + seed + ": a cut path is not found lost");
        }
    }
}
