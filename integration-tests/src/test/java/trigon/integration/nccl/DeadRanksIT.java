package trigon.integration.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.Triangle;
import trigon.testsupport.Await;
import trigon.testsupport.Sampled;

/**
 * A rank dies, and the others go on in the same processes: with fewer ranks, and with a new process in its place. Rank
 * 2 kills itself in the midst of a communicator that the next one is smaller than; see {@code --sizes} of nccl-host.
 */
@Timeout(300)
class DeadRanksIT {

    private static final int KILLED = 128 + 9;

    private static final int ROUNDS = 10;

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path directory = Path.of("/nonexistent"); // until JUnit has set it

    private final List<HostProgram> hosts = new ArrayList<>();

    @AfterEach
    void endTheHosts() {
        hosts.forEach(HostProgram::close);
    }

    private HostProgram start(String job, int rank, String... options) throws IOException {
        String node = List.of("a", "b", "c").get(rank);
        Map<String, String> environment = new HashMap<>(HostProgram.QUICK_START);
        Triangle triangle = Triangle.of(directory, HostProgram.distribution(), 0);
        environment.putAll(Map.of("TRIGON_CONFIG", triangle.file().toString(), "TRIGON_NODE", node));
        Path folder = Files.createDirectories(directory.resolve(job));
        List<String> words = new ArrayList<>(List.of(
                "--rank",
                Integer.toString(rank),
                "--rendezvous",
                folder.resolve("meeting").toString(),
                "--bytes",
                "1000000",
                "--iterations",
                Integer.toString(ROUNDS)));
        words.addAll(List.of(options));
        HostProgram host = new HostProgram(
                HostProgram.distribution(),
                Files.createTempFile(folder, node, ".log"),
                environment,
                words.toArray(String[]::new));
        hosts.add(host);
        return host;
    }

    /** The survivors' calls end with an error; they abort, and the two make a communicator of their own. */
    @ParameterizedTest
    @Sampled({"12", "10"})
    void theOthersGoOnAlone(String api) throws IOException {
        List<HostProgram> ranks = new ArrayList<>();
        for (int rank = 0; rank < 3; rank++) {
            ranks.add(start("job", rank, "--sizes", "3,2", "--api", api));
        }

        assertThat(ranks.get(2).exitStatus()).isEqualTo(KILLED);
        for (HostProgram survivor : ranks.subList(0, 2)) {
            assertThat(survivor.exitStatus()).as(survivor.output()).isZero();
            assertThat(survivor.output()).contains("(remote error)").contains(" 0 wrong");
        }
    }

    /** The order of ncclCommShrink and ncclCommGrow: what was before ends once what comes after works. */
    @ParameterizedTest
    @Sampled({"12", "10"})
    void whatIsLeftMayBeClosedLater(String api) throws IOException {
        String[] options = {"--sizes", "2,3,2", "--overlapping", "--api", api};
        HostProgram first = start("job", 0, options);
        HostProgram second = start("job", 1, options);
        HostProgram joins = start("job", 2, "--sizes", "2,3,2", "--overlapping", "--api", api, "--from", "2");

        assertThat(joins.exitStatus()).isEqualTo(KILLED);
        for (HostProgram survivor : List.of(first, second)) {
            assertThat(survivor.exitStatus()).as(survivor.output()).isZero();
            assertThat(timesRight(survivor)).as(survivor.output()).isEqualTo(2);
        }
    }

    /** At the same node and address; and nothing grows in the processes that live on. */
    @Test
    void aWorkerMayRestartAgainAndAgain() throws IOException {
        HostProgram once = afterRestarts("once", 1);
        HostProgram often = afterRestarts("often", 5);

        assertThat(often.output()).doesNotContain("relayed by");
        // a relay's thread starts when another node first asks for one; what is lost with each restart is four or more
        Await.until(
                () -> "descriptors and threads " + held(often) + " after 5 restarts, " + held(once) + " after 1",
                PATIENCE,
                () -> held(often).get(0) < held(once).get(0) + 4
                        && held(often).get(1) < held(once).get(1) + 4);
    }

    /** Rank 0, which rests once a rank 2 has died and come again so many times. */
    private HostProgram afterRestarts(String job, int restarts) throws IOException {
        String sizes = "3,2,".repeat(restarts) + "3";
        HostProgram first = start(job, 0, "--sizes", sizes, "--rest", "600");
        start(job, 1, "--sizes", sizes, "--rest", "600");
        for (int i = 0; i < restarts; i++) {
            assertThat(start(job, 2, "--sizes", sizes, "--from", Integer.toString(2 * i + 1))
                            .exitStatus())
                    .isEqualTo(KILLED);
        }
        HostProgram last = start(job, 2, "--sizes", sizes, "--from", Integer.toString(2 * restarts + 1));
        assertThat(last.exitStatus()).as(last.output()).isZero();
        first.awaitOutput(_ -> timesRight(first) == restarts + 1, (restarts + 1) + " times all right");
        return first;
    }

    private static long timesRight(HostProgram host) {
        return host.output().lines().filter(line -> line.endsWith(" 0 wrong")).count();
    }

    private static List<Long> held(HostProgram host) {
        return Stream.of("fd", "task")
                .map(kind -> Path.of("/proc", Long.toString(host.pid()), kind))
                .map(DeadRanksIT::entries)
                .toList();
    }

    private static long entries(Path folder) {
        try (Stream<Path> all = Files.list(folder)) {
            return all.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
