package trigon.integration.security;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.NamespaceJob;
import trigon.testsupport.Sampled;

/**
 * A line a-b-c whose cables go through a stranger: b relays what c sends to a, and the stranger floods all ports, says
 * again what it has heard, and makes up announcements, segments and resets. The job does not notice.
 * {@code -Dtrigon.hostile.seconds=} says for how long in each run; what it costs is printed.
 */
@Timeout(3600)
@Tag("long")
class HostileNetworkIT {

    private static final int SECONDS = Integer.getInteger("trigon.hostile.seconds", 4);
    private static final int CALM_SECONDS = Math.max(2, SECONDS / 3);

    /** In KiB: 1 MiB of records is remembered of what one address announces, and takes ten times that as objects. */
    private static final long ALLOWANCE = 10 << 10;

    /** What stands for a number, an address or a count in a line of the log, so that lines of one kind are alike. */
    private static final Pattern VARIABLE = Pattern.compile("\\b[0-9a-fA-F]*[0-9][\\w.:]*|\\bstranger\\w*");

    private static final Pattern LEFT_OUT = Pattern.compile(" \\([^()]* (more|left out)[^()]*\\)");

    @TempDir
    Path directory;

    private CableNamespaces network;

    @BeforeEach
    void layCables() {
        network = CableNamespaces.open();
        List.of("a", "b", "c", "stranger").forEach(network::node);
        bridge("ab", "a toB 10.79.12.1/24", "b toA 10.79.12.2/24", "10.79.12.9/24");
        bridge("bc", "b toC 10.79.23.2/24", "c toB 10.79.23.3/24", "10.79.23.9/24");
    }

    /** A cable with the stranger in the middle of it. */
    private void bridge(String name, String one, String other, String own) {
        network.inside("stranger", "ip link add " + name + " type bridge");
        int number = 0;
        for (String end : List.of(one, other)) {
            String[] words = end.split(" ", -1);
            String port = name + number++;
            network.cable(words[0], words[1], "stranger", port);
            network.addresses(end);
            network.inside("stranger", "ip link set " + port + " master " + name);
        }
        network.addresses("stranger " + name + " " + own);
        network.set("stranger", name, true);
    }

    @AfterEach
    void removeNodes() {
        if (network != null) {
            network.close();
        }
    }

    @ParameterizedTest
    @Sampled({"true, on", "true, off", "false, on", "false, off"})
    void theJobDoesNotNotice(boolean withKey, String failover) throws Exception {
        try (Stranger stranger = new Stranger(network, directory.resolve("stranger"));
                NamespaceJob job = job(withKey, failover)) {
            job.awaitRounds(10);
            assertThat(job.output()).containsPattern("sends to a .* relayed by b");
            double calm = roundsPerSecond(job, CALM_SECONDS);
            List<Long> before = job.resident();
            List<String> saidBefore =
                    job.ranks().stream().map(HostProgram::output).toList();

            stranger.begin("attack", job.ranks());
            double attacked = roundsPerSecond(job, SECONDS);
            List<Long> after = job.resident();
            String done = stranger.end();
            System.out.printf(
                    "key %s, failover %s: %.1f all-reduces/s, %.1f under attack; resident %s KiB, then %s%n%s%n",
                    withKey, failover, calm, attacked, before, after, done);
            job.end();

            assertThat(done.lines().filter(line -> line.startsWith("did ")))
                    .hasSize(10)
                    .allMatch(line -> !line.contains(" 0 in "));
            for (int rank = 0; rank < before.size(); rank++) {
                assertThat(after.get(rank))
                        .as("KiB of rank %d, before %s", rank, before)
                        .isLessThan(before.get(rank) * 11 / 10 + ALLOWANCE);
                String said = job.ranks().get(rank).output();
                assertThat(kinds(said.substring(saidBefore.get(rank).length())))
                        .as("lines of a kind of rank %d", rank)
                        .allSatisfy((kind, count) -> assertThat(count).isOne());
            }
        }
    }

    /** A reset with the right numbers is a cut. */
    @Test
    void rightResetsAreSurvived() throws Exception {
        try (Stranger stranger = new Stranger(network, directory.resolve("stranger"));
                NamespaceJob job = job(true, "on")) {
            job.awaitRounds(10);
            stranger.begin("reset", job.ranks());
            for (HostProgram rank : job.ranks()) {
                rank.awaitOutput("goes on over");
            }
            job.awaitRounds(10);
            String done = stranger.end();
            System.out.println(done);
            job.end();
        }
    }

    private static double roundsPerSecond(NamespaceJob job, int seconds) throws InterruptedException {
        long begin = System.nanoTime();
        int before = job.rounds();
        Thread.sleep(Duration.ofSeconds(seconds)); // what counts is what happens meanwhile
        int rounds = job.rounds() - before;
        return rounds * 1e9 / (System.nanoTime() - begin);
    }

    private static Map<String, Long> kinds(String said) {
        return said.lines()
                .filter(line -> !line.contains(": all-reduce "))
                .map(line -> LEFT_OUT.matcher(line).replaceAll(""))
                .map(line -> VARIABLE.matcher(line).replaceAll("#"))
                .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    }

    private NamespaceJob job(boolean withKey, String failover) throws IOException {
        Path file = Files.writeString(directory.resolve("line.yaml"), """
                version: 1
                links: software
                handshake: {timeout: 40s, peerTimeout: 60s}
                nodes:
                  a: {nics: [{address: 10.79.12.1/24}]}
                  b: {nics: [{address: 10.79.12.2/24}, {address: 10.79.23.2/24}]}
                  c: {nics: [{address: 10.79.23.3/24}]}
                """);
        Map<String, String> environment = new HashMap<>(HostProgram.QUICK_START); // else it is compilers that grow
        environment.put("TRIGON_CONFIG", file.toString());
        environment.put("TRIGON_FAILOVER", failover);
        if (withKey) {
            Path key = Files.writeString(directory.resolve("key"), "%064x%n".formatted(0x5eed));
            Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
            environment.put("TRIGON_CLUSTER_KEY_FILE", key.toString());
        }
        Path folder = Files.createDirectories(directory.resolve("job"));
        return new NamespaceJob(network::by, folder, environment, List.of("a", "b", "c"));
    }
}
