package trigon.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.Triangle;
import trigon.testsupport.Sampled;

/**
 * What the processes of a job do when one of them is killed or stopped, or lacks what it needs; see
 * docs/reference/failures.md.
 */
@Isolated("a process that is stopped, and then runs late, is taken for one whose path is silent")
@Timeout(300)
class FailureIT {

    private static final Map<String, String> SHORT =
            withQuickStart("TRIGON_PEER_TIMEOUT", "10s", "TRIGON_STOPPED_TIMEOUT", "10s");
    private static final Pattern ROUND = Pattern.compile("all-reduce \\d+ took");

    @TempDir
    Path directory;

    private List<HostProgram> hosts = List.of();

    @AfterEach
    void endTheHosts() {
        hosts.forEach(HostProgram::close);
    }

    @ParameterizedTest
    @Sampled({"off", "on"})
    void aKilledProcessIsAnErrorOnTheOthers(String failover) throws Exception {
        start(withQuickStart("TRIGON_FAILOVER", failover));

        hosts.get(2).signal("KILL");

        // whichever of its connections breaks first
        assertThat(failuresOfTheOthers())
                .containsPattern("WARN.* peer c at 127.0.*(lost c at 127.0.*killed: its connection"
                        + " broke|RETRY_EXCEEDED.*its process died)");
    }

    @Test
    @Tag("long")
    void aRankThatWaitsForAnotherSurvivorNeedNotWaitForItsEnd() throws Exception {
        hosts = startFourInARing();
        awaitData();

        hosts.get(3).signal("KILL");

        // its neighbours are ranks 0 and 2, which close nothing for as long as this test may take
        HostProgram opposite = hosts.get(1);
        opposite.awaitOutput("(remote error)");
        assertThat(opposite.output())
                .containsPattern(
                        "the peer's end failed: communicator 0x7267000000000001 has failed on n[02], by .* n3 at");
        assertThat(hosts.get(0).isAlive()).as(hosts.get(0).output()).isTrue();
        assertThat(hosts.get(2).isAlive()).as(hosts.get(2).output()).isTrue();
    }

    @Test
    @Tag("long")
    void aProcessThatIsStoppedForLongIsAnErrorOnTheOthers() throws Exception {
        start(SHORT);

        hosts.get(2).signal("STOP");

        assertThat(failuresOfTheOthers())
                .containsPattern("WARN.* on lo .*, peer c at 127.0.*lost c at 127.0..*: the peer has been silent"
                        + " for [0-9]+[.][0-9] s, .*ip -s link");
        hosts.get(2).signal("CONT");
        assertThat(hosts.get(2).exitStatus()).as(hosts.get(2).output()).isEqualTo(1);
    }

    @ParameterizedTest
    @Sampled({"off", "on"})
    void aProcessThatIsStoppedHoldsTheOthersUpAndNoMore(String failover) throws Exception {
        Map<String, String> environment = withQuickStart("TRIGON_PEER_TIMEOUT", "2s", "TRIGON_FAILOVER", failover);
        Path end = directory.resolve("end");
        hosts = triangle()
                .start(
                        environment,
                        "--bytes",
                        "4000000",
                        "--iterations",
                        "100000",
                        "--print-longer",
                        "1",
                        "--until",
                        end.toString());
        awaitData();

        hosts.get(2).signal("STOP");
        Thread.sleep(7000); // what is tried is a length of time: silence for so long, and nothing may happen
        assertThat(hosts).allMatch(HostProgram::isAlive);
        hosts.get(2).signal("CONT");
        Files.createFile(end); // the ranks make some rounds more

        for (HostProgram host : hosts) {
            assertThat(host.exitStatus()).as(host.output()).isZero();
            assertThat(host.output()).doesNotContain("goes on over");
        }
    }

    @Test
    void aFullDiskUnderTheLogsIsNoMatterForTheData() throws Exception {
        for (String node : List.of("a", "b", "c")) {
            Files.createSymbolicLink(directory.resolve(node + ".log"), Path.of("/dev/full"));
        }

        hosts = triangle().start(HostProgram.QUICK_START, "--bytes", "1000003", "--iterations", "3");

        for (HostProgram host : hosts) {
            assertThat(host.exitStatus()).isZero();
        }
    }

    @ParameterizedTest
    @Tag("long")
    @Sampled({"16", "24", "32", "64"})
    void aProcessWithoutFileDescriptorsFailsInOrderAndSoDoTheOthers(int limit) {
        hosts = triangle()
                .start(
                        List.of("/bin/sh", "-c", "ulimit -n " + limit + " && exec \"$@\"", "sh"),
                        HostProgram.QUICK_START,
                        "--bytes",
                        "100000",
                        "--iterations",
                        "2",
                        "--timeout",
                        "20");

        int status = hosts.get(2).exitStatus();
        assertThat(status).as(hosts.get(2).output()).isIn(0, 1);
        if (status == 1) {
            assertThat(hosts.get(2).output()).containsIgnoringCase("too many open files");
        }
        assertThat(hosts.get(0).exitStatus()).as(hosts.get(0).output()).isEqualTo(status);
        assertThat(hosts.get(1).exitStatus()).as(hosts.get(1).output()).isEqualTo(status);
    }

    /** The environment of {@link HostProgram#QUICK_START}, and these names and values. */
    private static Map<String, String> withQuickStart(String... namesAndValues) {
        Map<String, String> all = new HashMap<>(HostProgram.QUICK_START);
        for (int i = 0; i < namesAndValues.length; i += 2) {
            all.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        return all;
    }

    private Triangle triangle() {
        return Triangle.of(directory, HostProgram.distribution(), 0);
    }

    /** Starts a job that would take minutes, and waits until its data move. */
    private void start(Map<String, String> environment) {
        hosts = triangle().start(environment, "--bytes", "4000000", "--iterations", "100000", "--print-longer", "1");
        awaitData();
    }

    /** Four nodes on one subnet, whose ranks linger once they have failed. */
    private List<HostProgram> startFourInARing() throws IOException {
        StringBuilder text = new StringBuilder("version: 1\nlinks: software\nnodes:\n");
        for (int rank = 0; rank < 4; rank++) {
            text.append("  n%d: {nics: [{address: 127.0.14.%d/24}]}%n".formatted(rank, rank + 1));
        }
        Path file = Files.writeString(directory.resolve("ring.yaml"), text);
        Path rendezvous = Files.createDirectory(directory.resolve("rendezvous"));
        List<HostProgram> started = new ArrayList<>();
        for (int rank = 0; rank < 4; rank++) {
            started.add(new HostProgram(
                    HostProgram.distribution(),
                    directory.resolve("n" + rank + ".log"),
                    withQuickStart("TRIGON_CONFIG", file.toString(), "TRIGON_NODE", "n" + rank),
                    "--rank",
                    Integer.toString(rank),
                    "--ranks",
                    "4",
                    "--rendezvous",
                    rendezvous.toString(),
                    "--bytes",
                    "4000000",
                    "--iterations",
                    "1000000",
                    "--print-longer",
                    "1",
                    "--linger",
                    "600"));
        }
        return started;
    }

    /** Until each has finished an all-reduce, so that data move. */
    private void awaitData() {
        hosts.forEach(host -> host.awaitOutput(ROUND));
    }

    /** The logs of nodes a and b, which both have ended with an error by themselves. */
    private String failuresOfTheOthers() {
        StringBuilder logs = new StringBuilder();
        for (HostProgram host : hosts.subList(0, 2)) {
            assertThat(host.exitStatus()).as(host.output()).isEqualTo(1);
            assertThat(host.output()).contains("(remote error)").doesNotContain(" 0 wrong");
            logs.append(host.output());
        }
        return logs.toString();
    }
}
