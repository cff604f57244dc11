package trigon.integration.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.NamespaceJob;
import trigon.testsupport.Await;

/** The line a-b-c, whose node b runs {@code trigon relay} in memory that changes bits of what goes through it. */
@Timeout(300)
@Tag("long")
class FaultyRelayIT {

    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int FAULTS = 3;
    private static final String FAULT = "faulty memory: a bit of";
    private static final Pattern WARNING =
            Pattern.compile("a message from 10\\.79\\.[0-9.]+ was altered on its way through relays");

    @TempDir
    Path directory;

    private CableNamespaces network;
    private Map<String, String> environment = Map.of();

    @BeforeEach
    void line() throws IOException {
        network = CableNamespaces.open();
        List.of("a", "b", "c").forEach(network::node);
        network.cable("a", "toB", "10.79.12.1/24", "b", "toA", "10.79.12.2/24");
        network.cable("b", "toC", "10.79.23.2/24", "c", "toB", "10.79.23.3/24");
        Path key = Files.writeString(directory.resolve("key"), "%064x%n".formatted(0x5eed));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        Path file = Files.writeString(directory.resolve("line.yaml"), """
                version: 1
                links: software
                handshake: {timeout: 40s, peerTimeout: 60s}
                circuits: {check: all}
                nodes:
                  a: {nics: [{address: 10.79.12.1/24}]}
                  b: {nics: [{address: 10.79.12.2/24}, {address: 10.79.23.2/24}]}
                  c: {nics: [{address: 10.79.23.3/24}]}
                """);
        // at debug, because a rank does not warn of the same relay again for some minutes
        environment = Map.of(
                "TRIGON_CONFIG", file.toString(),
                "TRIGON_CLUSTER_KEY_FILE", key.toString(),
                "TRIGON_LOG", "debug");
    }

    @AfterEach
    void removeNodes() {
        if (network != null) {
            network.close();
        }
    }

    @Test
    void theJobGetsNoWrongElement() throws IOException {
        Map<String, String> faulty = new HashMap<>(environment);
        faulty.put("TRIGON_NODE", "b");
        faulty.put("LD_PRELOAD", faultyMemory().toString());
        faulty.put("FAULT_BYTES", "8192");
        faulty.put("FAULT_EACH", "100");
        faulty.put("FAULT_MOST", Integer.toString(FAULTS));
        try (HostProgram relay = HostProgram.relay(network.by("b"), directory.resolve("b.log"), faulty)) {
            Await.until(relay::output, PATIENCE, () -> relay.output().contains("node b relays over"));
            try (NamespaceJob job = new NamespaceJob(network::by, directory, environment, List.of("a", "c"))) {
                Await.until(
                        () -> relay.output() + job.output(),
                        PATIENCE,
                        () -> count(Pattern.compile(FAULT), relay.output()) == FAULTS
                                && count(WARNING, job.output()) == FAULTS);
                job.awaitRounds(10);
                job.end();
                assertThat(job.output())
                        .containsPattern("Check the memory of the relay at 10\\.79\\.(12|23)\\.2, or of one before it");
            }
        }
    }

    private static long count(Pattern words, String text) {
        return words.matcher(text).results().count();
    }

    private static Path faultyMemory() {
        return Path.of(System.getProperty("trigon.odd.host")).resolveSibling("libfaulty-memory.so");
    }
}
