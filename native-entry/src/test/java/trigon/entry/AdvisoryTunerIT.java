package trigon.entry;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.testsupport.Sampled;

/** Several ranks go by an advisory tuner where all of them can agree on it first, and nowhere else. */
class AdvisoryTunerIT {

    @TempDir
    private Path scratch;

    /** Each process draws lots. What all say in the end is what one of them drew. */
    @Test
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void ranksOfOneNodeAgreeOnWhatAnAdvisoryTunerSays() throws Exception {
        List<ChildProcess> processes = ranksOfOneNode(3, true, "advisory_random", "advisory_random", "advisory_random");

        assertThat(processes).allSatisfy(process -> {
            assertThat(process.exit()).as(process.stderr()).isZero();
            assertThat(process.stderr()).contains("all ranks decide by one table of policy advisory_random.o");
        });
        assertThat(processes.stream().map(AdvisoryTunerIT::decisions).distinct())
                .hasSize(1);
        List<String> decisions = decisions(processes.getFirst());
        assertThat(decisions).hasSize(45).allMatch(decision -> !decision.contains("\"channels\": 0,"));
        assertThat(decisions.stream()
                        .map(decision -> decision.replaceAll(".*\"channels\": ([0-9]+),.*", "$1"))
                        .distinct())
                .as("lots were drawn")
                .hasSizeGreaterThan(2);
    }

    @Test
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void whereOneRankHasAnotherPolicyNoneGoesByAnAdvisoryTuner() throws Exception {
        List<ChildProcess> processes = ranksOfOneNode(2, true, "advisory_random", "advisory_other");

        assertThat(processes).allSatisfy(process -> {
            assertThat(process.exit()).as(process.stderr()).isZero();
            assertThat(process.stderr()).contains("ranks have different policies");
            assertThat(decisions(process)).allMatch(decision -> decision.contains("\"channels\": 0,"));
        });
    }

    @Test
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void whereOneRankIsMissingNoneGoesByAnAdvisoryTuner() throws Exception {
        List<ChildProcess> processes = ranksOfOneNode(3, false, "advisory_random", "advisory_random");

        assertThat(processes).allSatisfy(process -> {
            assertThat(process.exit()).as(process.stderr()).isZero();
            assertThat(process.stderr()).containsPattern("only [12] of its ranks came to agree");
            assertThat(decisions(process)).allMatch(decision -> decision.contains("\"channels\": 0,"));
        });
    }

    @ParameterizedTest
    @Sampled({"4, 1, does not tell tuners which communicator", "5, 2, ranks of several nodes have no way to agree"})
    void anAdvisoryTunerDoesNotDecideWhereRanksCannotAgree(int api, String nodes, String reason) throws Exception {
        ChildProcess host = ChildProcess.run(
                scratch, TunerIT.policy(TunerIT.EXAMPLES.resolve("slo.o")), TunerIT.command(api, "--nodes", nodes));

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stderr()).contains("slo.o is advisory", reason, "NCCL decides");
    }

    /** What the first communicator has measured, the second one's ranks decide by. */
    @Test
    @Tag("long")
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void ranksAgreeOnWhatEarlierCommunicatorsMeasured() throws Exception {
        List<String> command = new ArrayList<>(TunerIT.eventsCommand(6, 6));
        command.addAll(List.of("--ranks", "2", "--local-ranks", "2", "--nodes", "1", "--communicators", "2"));
        command.addAll(List.of("--timeout", "10", "--seed", seed()));

        ChildProcess host = ChildProcess.run(scratch, TunerIT.policy(TunerIT.EXAMPLES.resolve("slo.o")), command);

        assertThat(host.exit()).as(host.stderr()).isZero();
        String nothingYet = "\"channels\": 0}, \"after_events\": {\"algorithm\": \"ring\", \"channels\": 0}";
        String measured = "\"channels\": 16}, \"after_events\": {\"algorithm\": \"ring\", \"channels\": 16}";
        assertThat(host.stdout().lines().filter(line -> line.contains(nothingYet)))
                .as(host.stdout() + host.stderr())
                .hasSize(2);
        assertThat(host.stdout().lines().filter(line -> line.contains(measured)))
                .as(host.stdout() + host.stderr())
                .hasSize(2);
    }

    /**
     * A process for each, at the same time.
     *
     * @param ranks how many the communicator is said to have
     * @param meet whether they begin together, which takes all of them
     */
    private List<ChildProcess> ranksOfOneNode(int ranks, boolean meet, String... policies) throws Exception {
        String seed = seed();
        List<Callable<ChildProcess>> starts = new ArrayList<>();
        for (int rank = 0; rank < policies.length; rank++) {
            Path folder = Files.createDirectory(scratch.resolve("rank" + rank));
            Map<String, String> environment =
                    new HashMap<>(TunerIT.policy(TunerIT.PROGRAMS.resolve(policies[rank] + ".o")));
            environment.put("NCCL_DEBUG", "INFO");
            List<String> command = TunerIT.command(6, "--nodes", "1", "--seed", seed, "--rank", Integer.toString(rank));
            command.set(command.indexOf("--ranks") + 1, Integer.toString(ranks));
            command.set(command.indexOf("--local-ranks") + 1, "1");
            if (meet) {
                // one rank may need longer than another to load its policy, on a machine that has other work
                environment.put("TRIGON_JAVA_OPTS", "-Dtrigon.agreement.millis=60000");
                command.addAll(
                        List.of("--rendezvous", scratch.resolve("rendezvous").toString()));
            }
            starts.add(() -> ChildProcess.run(folder, environment, command));
        }
        List<ChildProcess> processes = new ArrayList<>();
        try (ExecutorService executor = Executors.newCachedThreadPool()) {
            for (Future<ChildProcess> process : executor.invokeAll(starts)) {
                processes.add(process.get());
            }
        }
        return processes;
    }

    /** Makes communicators' numbers that no other test on this machine has. */
    private static String seed() {
        return Long.toString(1 + ProcessHandle.current().pid());
    }

    /** Without the rank. */
    private static List<String> decisions(ChildProcess process) {
        return process.stdout()
                .lines()
                .filter(line -> line.startsWith("{\"rank\": "))
                .map(line -> line.substring(line.indexOf(',')))
                .toList();
    }
}
