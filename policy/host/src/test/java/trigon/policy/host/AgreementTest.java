package trigon.policy.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.nccl.TunerChoice;
import trigon.system.file.OpenFile;
import trigon.system.file.ProcessUsers;
import trigon.testsupport.Await;
import trigon.testsupport.ManualClock;

/** Ranks, each with a table of its own, have one outcome. */
@Timeout(300)
class AgreementTest {

    private static final String POLICY = "5fe0b0c7f1b45fe0b0c7f1b4";
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Duration SHORT = Duration.ofMillis(20);

    private final ExecutorService ranks = Executors.newCachedThreadPool();

    @TempDir
    private Path directory;

    @AfterEach
    void stop() {
        ranks.shutdownNow();
    }

    private static DecisionTable table(long number) {
        long[] entries = new long[DecisionTable.ENTRIES];
        Arrays.fill(entries, number);
        return DecisionTable.of(entries);
    }

    private Callable<Agreement.Outcome> rank(int rank, int of, Duration patience, String policy, long delayMicros) {
        return () -> {
            TimeUnit.MICROSECONDS.sleep(delayMicros);
            return new Agreement(directory, patience)
                    .reach(new PolicyCommunicator(1, of, 1), policy, () -> table(rank));
        };
    }

    private List<Agreement.Outcome> outcomes(List<Callable<Agreement.Outcome>> calls) throws Exception {
        List<Agreement.Outcome> outcomes = new ArrayList<>();
        for (Future<Agreement.Outcome> each : ranks.invokeAll(calls)) {
            outcomes.add(each.get());
        }
        return outcomes;
    }

    private static String shown(Agreement.Outcome outcome) {
        return switch (outcome) {
            case Agreement.Outcome.Agreed(DecisionTable table) -> Arrays.toString(table.entries());
            case Agreement.Outcome.TooFew _ -> "too few";
            case Agreement.Outcome.DifferentPolicies() -> "different policies";
        };
    }

    @Test
    void allRanksTakeTheTableOfOne() throws Exception {
        List<Callable<Agreement.Outcome>> calls = new ArrayList<>();
        for (int rank = 1; rank <= 8; rank++) {
            calls.add(rank(rank, 8, LONG, POLICY, 100L * rank));
        }

        List<Agreement.Outcome> outcomes = outcomes(calls);

        assertThat(outcomes).hasOnlyElementsOfType(Agreement.Outcome.Agreed.class);
        assertThat(outcomes.stream().map(AgreementTest::shown).distinct()).hasSize(1);
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void whereOneIsMissingNoneDecides() throws Exception {
        List<Agreement.Outcome> outcomes =
                outcomes(List.of(rank(1, 3, SHORT, POLICY, 0), rank(2, 3, SHORT, POLICY, 0)));

        assertThat(outcomes).hasOnlyElementsOfType(Agreement.Outcome.TooFew.class);
        assertThat(outcomes(List.of(rank(3, 3, SHORT, POLICY, 0))))
                .hasOnlyElementsOfType(Agreement.Outcome.TooFew.class);
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void aRankWaitsAsLongAsItsPatienceLasts() throws Exception {
        ManualClock clock = new ManualClock();
        Future<Agreement.Outcome> outcome = ranks.submit(() ->
                new Agreement(directory, LONG, clock).reach(new PolicyCommunicator(1, 2, 1), POLICY, () -> table(1)));
        Await.until("the rank has its page", () -> hasFiles(directory));

        clock.advance(LONG.minusNanos(1));
        long reads = clock.reads();
        Await.until("the rank has acted on that time", () -> outcome.isDone() || clock.reads() >= reads + 2);
        assertThat(outcome).isNotDone();
        clock.advance(Duration.ofNanos(1));

        assertThat(outcome.get()).isEqualTo(new Agreement.Outcome.TooFew(1));
    }

    private static boolean hasFiles(Path folder) {
        try (var files = Files.list(folder)) {
            return files.findAny().isPresent();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** One that comes when the others have found that out meets nobody, and waits in vain. */
    @Test
    void ranksWithDifferentPoliciesDoNotDecide() throws Exception {
        List<Agreement.Outcome> outcomes = outcomes(List.of(
                rank(1, 3, LONG, POLICY, 0), rank(2, 3, LONG, POLICY, 0), rank(3, 3, LONG, "1" + POLICY, 5000)));

        assertThat(outcomes)
                .hasAtLeastOneElementOfType(Agreement.Outcome.DifferentPolicies.class)
                .doesNotHaveAnyElementsOfTypes(Agreement.Outcome.Agreed.class);
    }

    /** Ranks come about when the patience of the first is over. */
    @RepeatedTest(100)
    void whetherLateOrNotAllHaveTheSameOutcome() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Callable<Agreement.Outcome>> calls = new ArrayList<>();
        for (int rank = 1; rank <= 4; rank++) {
            calls.add(rank(rank, 4, Duration.ofMillis(5), POLICY, random.nextInt(7000)));
        }

        assertThat(outcomes(calls).stream().map(AgreementTest::shown).distinct())
                .as("seed %d", seed)
                .hasSize(1);
    }

    @Test
    void whoCannotHaveThePageDoesNotTakePart() throws Exception {
        Files.createSymbolicLink(
                directory.resolve(
                        "trigon-agreement-1-%s-1-2".formatted(Files.getAttribute(Path.of("/proc/self"), "unix:uid"))),
                directory.resolve("elsewhere"));

        assertThatThrownBy(() -> rank(1, 2, SHORT, POLICY, 0).call()).isInstanceOf(IOException.class);
    }

    /** Whoever can delete the page could have made it: that its name is gone says nothing of whose it is. */
    @Test
    void aPageWhoseNameIsGoneIsNotTaken() throws Exception {
        int user = ProcessUsers.own();
        Path file = directory.resolve("page");
        try (OpenFile page = OpenFile.openOrMake(file);
                Arena arena = Arena.ofConfined()) {
            Files.delete(file);

            assertThat(AgreementPage.of(page, user, arena).verdict()).isEqualTo(AgreementPage.OPEN);
            assertThatThrownBy(() -> AgreementPage.of(page, user + 1, arena))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(file + " belongs to another user");
        }
    }

    @Test
    void aTableAnswersBySizeRoundedDown() {
        long[] entries = new long[DecisionTable.ENTRIES];
        // all-reduces from 1 KiB to less than 2 KiB: ring, LL128, 7 channels, no trees
        long chosen = TunerChoice.of(1, 1, 7, 1);
        entries[(4 << 6) + 10] = chosen;
        DecisionTable table = DecisionTable.of(entries);
        assertThat(table.decide(0, 4, 1023, 1, 0)).isEqualTo(TunerChoice.NONE);
        assertThat(table.decide(0, 4, 2048, 1, 0)).isEqualTo(TunerChoice.NONE);
        assertThat(table.decide(0, 3, 1024, 1, 0)).isEqualTo(TunerChoice.NONE);
        assertThat(table.decide(0, 5, 1024, 1, 0)).isEqualTo(TunerChoice.NONE);
        assertThat(table.decide(0, 4, 0, 1, 0)).isEqualTo(TunerChoice.NONE);
        assertThat(table.decide(0, 4, 2047, 1, 0)).isEqualTo(chosen);
    }
}
