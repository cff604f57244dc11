package trigon.integration.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.NamespaceJob;
import trigon.testsupport.Await;

/** The line a-b-c on software links, where b has no rank of the job, but runs {@code trigon relay}. */
@Timeout(300)
class RelayProgramIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private Path file;
    private Path key;

    @BeforeEach
    void writeConfiguration() throws IOException {
        file = Files.writeString(directory.resolve("line.yaml"), """
                version: 1
                links: software
                nodes:
                  a: {nics: [{address: 127.0.112.1/24}]}
                  b: {nics: [{address: 127.0.112.2/24}, {address: 127.0.123.2/24}]}
                  c: {nics: [{address: 127.0.123.3/24}]}
                """);
        key = Files.writeString(directory.resolve("cluster.key"), "%064x%n".formatted(0x5eed));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    }

    @Test
    void carriesAJobOfTheNodesBesideIt() throws Exception {
        Path log = directory.resolve("b.log");
        Process relay = relay(log, Map.of("TRIGON_CLUSTER_KEY_FILE", key.toString()));
        try {
            Await.until(
                    () -> "the relay is ready: " + text(log),
                    PATIENCE,
                    () -> text(log).contains("node b relays over"));
            List<HostProgram> ranks = List.of(rank(0, "a"), rank(1, "c"));
            try {
                for (HostProgram rank : ranks) {
                    assertThat(rank.exitStatus()).as(rank.output()).isZero();
                }
                assertThat(ranks.getFirst().output()).contains("relayed by b");
            } finally {
                ranks.forEach(HostProgram::close);
            }
            relay.destroy();
            assertThat(relay.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(text(log))
                    .containsPattern("0 circuits now, [1-9][0-9]* so far")
                    .contains("bytes passed on");
        } finally {
            relay.destroyForcibly();
        }
    }

    /** A relay's process is not the peer: one that dies is replaced by another, and the only one is waited for. */
    @Test
    void aJobSurvivesTheEndOfOneRelayAndTheRestartOfTheOnly() throws Exception {
        List<Process> relays = new ArrayList<>();
        Map<String, String> keyed = Map.of("TRIGON_CLUSTER_KEY_FILE", key.toString());
        Map<String, String> environment = new HashMap<>(keyed);
        environment.put("TRIGON_CONFIG", file.toString());
        try {
            startRelay(relays, keyed);
            startRelay(relays, keyed);
            try (NamespaceJob job = new NamespaceJob(_ -> List.of(), directory, environment, List.of("a", "c"))) {
                job.awaitRounds(2);

                relays.getFirst().destroyForcibly();
                job.awaitRounds(20);
                relays.getLast().destroyForcibly();
                startRelay(relays, keyed);
                job.awaitRounds(20);

                job.end();
            }
        } finally {
            relays.forEach(Process::destroyForcibly);
        }
    }

    /** One more process that relays on node b. */
    private void startRelay(List<Process> relays, Map<String, String> environment) throws IOException {
        Path log = directory.resolve("b%d.log".formatted(relays.size()));
        relays.add(relay(log, environment));
        Await.until(
                () -> "the relay is ready: " + text(log),
                PATIENCE,
                () -> text(log).contains("node b relays over"));
    }

    @Test
    void withoutAKeyItSaysWhatToDo() throws Exception {
        Path log = directory.resolve("b.log");
        Process relay = relay(log, Map.of());
        try {
            assertThat(relay.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(relay.exitValue()).isEqualTo(1);
            assertThat(text(log)).contains("none is set: name its file in TRIGON_CLUSTER_KEY_FILE");
        } finally {
            relay.destroyForcibly();
        }
    }

    private Process relay(Path log, Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                        HostProgram.distribution().resolve("bin/trigon").toString(), "relay")
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("TRIGON_") || name.contains("JAVA"));
        builder.environment().put("TRIGON_CONFIG", file.toString());
        builder.environment().put("TRIGON_NODE", "b");
        builder.environment().putAll(environment);
        return builder.start();
    }

    private HostProgram rank(int rank, String node) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("--bytes", "1000003", "--iterations", "2"));
        arguments.addAll(List.of("--rank", Integer.toString(rank), "--ranks", "2"));
        arguments.addAll(List.of(
                "--rendezvous",
                Files.createDirectories(directory.resolve("rendezvous")).toString()));
        return new HostProgram(
                HostProgram.distribution(),
                directory.resolve(node + ".log"),
                Map.of(
                        "TRIGON_CONFIG",
                        file.toString(),
                        "TRIGON_NODE",
                        node,
                        "TRIGON_CLUSTER_KEY_FILE",
                        key.toString()),
                arguments.toArray(String[]::new));
    }

    private static String text(Path file) {
        try {
            return Files.exists(file) ? Files.readString(file) : "";
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
