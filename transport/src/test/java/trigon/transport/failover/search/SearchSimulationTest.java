package trigon.transport.failover.search;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import trigon.routing.Path;
import trigon.testsupport.ManualClock;

/**
 * Whether a peer is thought gone: never while its process lives, however long it pauses, whatever its links do, and
 * whoever else answers; and soon when it has ended and all that answers says so. {@code -Dtrigon.search.networks=} says
 * how many networks, {@code -Dtrigon.seed=} where they begin.
 */
class SearchSimulationTest {

    private static final long NETWORKS = Long.getLong("trigon.search.networks", 3000);
    private static final long HORIZON = TimeUnit.SECONDS.toNanos(40);

    /** A search that has begun when its peer had ended, or in which it ends, finds that within so long. */
    private static final long LATEST =
            Absence.LASTS.plus(AskingRound.LONGEST).plusMillis(500).toNanos();

    /** What is done wrong on purpose. */
    enum Mutation {
        NONE,
        ANYBODY_MAY_REFUSE,
        SILENCE_IS_NOTHING,
        ONE_REFUSAL_IS_ENOUGH
    }

    @Test
    void noPeerThatLivesIsThoughtGoneAndAllThatHaveEndedAre() {
        Long given = Long.getLong("trigon.seed");
        long first = given != null ? given : ThreadLocalRandom.current().nextLong(1L << 40);
        System.out.println("networks " + first + " to " + (first + NETWORKS - 1));
        LongStream.range(first, first + NETWORKS).parallel().forEach(seed -> run(seed, Mutation.NONE));
    }

    @ParameterizedTest
    @EnumSource(value = Mutation.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void findsWhatIsDoneWrong(Mutation mutation) {
        assertThatThrownBy(() -> {
                    for (long seed = 0; seed < 10_000; seed++) {
                        run(seed, mutation);
                    }
                })
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("seed");
    }

    /** Searches one after the other, each of which ends when the peer is found, or found gone. */
    private static void run(long seed, Mutation mutation) {
        SplittableRandom random = new SplittableRandom(seed);
        SimulatedNetwork network = new SimulatedNetwork(random, HORIZON);
        ManualClock clock = new ManualClock();
        long begin = clock.nanoTime();
        Set<Path> proven = new HashSet<>(Set.of(SimulatedNetwork.IN_USE, SimulatedNetwork.OTHER));
        boolean gone = false;
        while (!gone && clock.nanoTime() - begin < HORIZON) {
            clock.advance(Duration.ofNanos(random.nextLong(TimeUnit.SECONDS.toNanos(2))));
            gone = search(seed, network, clock, begin, proven, mutation);
        }
    }

    private static boolean search(
            long seed, SimulatedNetwork network, ManualClock clock, long begin, Set<Path> proven, Mutation mutation) {
        Search search = new Search(clock);
        long started = clock.nanoTime() - begin;
        while (clock.nanoTime() - begin < 2 * HORIZON) {
            long asked = clock.nanoTime() - begin;
            Map<Path, Answer> answers = ask(network, asked, mutation);
            boolean waited = !answers.containsValue(Answer.ALIVE)
                    && answers.values().stream()
                            .anyMatch(answer -> answer == Answer.SILENT || answer == Answer.STOPPED);
            clock.advance(waited ? AskingRound.LONGEST : Duration.ofMillis(1));
            Found found = Found.by(answers, path -> mutation == Mutation.ANYBODY_MAY_REFUSE || proven.contains(path));
            search.observe(found);
            boolean gone = search.isGone() || (mutation == Mutation.ONE_REFUSAL_IS_ENOUGH && found.isGone());
            proven.addAll(found.alive());
            check(!gone || network.hasEnded(asked), "is thought gone and lives", seed, asked, network);
            boolean late = asked - started > LATEST && network.saysEnded(asked - LATEST, asked);
            check(gone || !late, "has ended and is not thought gone", seed, asked, network);
            if (gone || !found.alive().isEmpty()) {
                return gone;
            }
            clock.advance(search.nextPause());
        }
        return false;
    }

    private static Map<Path, Answer> ask(SimulatedNetwork network, long time, Mutation mutation) {
        Map<Path, Answer> answers = new LinkedHashMap<>();
        for (Path path : SimulatedNetwork.CANDIDATES) {
            Answer answer = network.ask(path, time);
            boolean silent = answer == Answer.SILENT || answer == Answer.STOPPED;
            boolean ignored = silent && mutation == Mutation.SILENCE_IS_NOTHING;
            answers.put(path, ignored ? Answer.NO_PATH : answer);
        }
        return answers;
    }

    private static void check(boolean right, String what, long seed, long time, SimulatedNetwork network) {
        if (!right) {
            throw new AssertionError("seed %d at %d ns: a peer that %s: %s".formatted(seed, time, what, network));
        }
    }
}
