package trigon.integration.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.NamespaceJob;
import trigon.testsupport.Sampled;

/**
 * A ring of four nodes, each with a rank of an all-to-all and a {@code trigon relay}. The relays are replaced one after
 * the other while the job runs, which loses nothing.
 */
@Timeout(300)
class RelayRestartsIT {

    private static final List<String> NODES = List.of("a", "b", "c", "d");

    @TempDir
    Path directory;

    private CableNamespaces network;
    private final List<HostProgram> relays = new ArrayList<>();
    private final Map<String, String> environment = new HashMap<>(HostProgram.QUICK_START);

    @BeforeEach
    void ringOfFour() throws IOException {
        network = CableNamespaces.open();
        NODES.forEach(network::node);
        network.cable("a", "to_b", "10.76.12.1/24", "b", "to_a", "10.76.12.2/24");
        network.cable("b", "to_c", "10.76.23.2/24", "c", "to_b", "10.76.23.3/24");
        network.cable("c", "to_d", "10.76.34.3/24", "d", "to_c", "10.76.34.4/24");
        network.cable("d", "to_a", "10.76.14.4/24", "a", "to_d", "10.76.14.1/24");
        Path file = Files.writeString(directory.resolve("ring.yaml"), """
                version: 1
                links: software
                handshake: {timeout: 60s}
                nodes:
                  a: {nics: [{address: 10.76.12.1/24}, {address: 10.76.14.1/24}]}
                  b: {nics: [{address: 10.76.12.2/24}, {address: 10.76.23.2/24}]}
                  c: {nics: [{address: 10.76.23.3/24}, {address: 10.76.34.3/24}]}
                  d: {nics: [{address: 10.76.34.4/24}, {address: 10.76.14.4/24}]}
                """);
        Path key = Files.writeString(directory.resolve("key"), "%064x%n".formatted(0x5eed));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        environment.put("TRIGON_CONFIG", file.toString());
        environment.put("TRIGON_CLUSTER_KEY_FILE", key.toString());
        environment.put("TRIGON_QUEUE_PAIRS_PER_LINK", "2"); // circuits by both processes of a node
    }

    @AfterEach
    void removeNodes() {
        relays.forEach(HostProgram::close);
        if (network != null) {
            network.close();
        }
    }

    @ParameterizedTest
    @Sampled({"TERM", "KILL"})
    void relaysAreReplacedInTurn(String signal) throws IOException {
        List<HostProgram> inUse = new ArrayList<>();
        for (String node : NODES) {
            inUse.add(relay(node));
        }
        for (HostProgram relay : inUse) {
            relay.awaitOutput("relays over");
        }
        Path of = Files.createDirectories(directory.resolve("job"));
        try (NamespaceJob job =
                new NamespaceJob(network::by, of, environment, NODES, "--test", "all-to-all", "--channels", "3")) {
            job.awaitRounds(3);
            for (int i = 0; i < NODES.size(); i++) {
                HostProgram old = inUse.get(i);
                old.signal(signal);
                assertThat(old.exitStatus()).isNotZero();
                if ("TERM".equals(signal)) {
                    assertThat(old.output()).containsPattern("[1-9][0-9]* circuits? now");
                }
                job.awaitRounds(3);
                relay(NODES.get(i)).awaitOutput("relays over");
                job.awaitRounds(3);
            }
            assertThat(job.output()).contains("goes on over");
            job.end();
        }
    }

    private HostProgram relay(String node) {
        Map<String, String> variables = new HashMap<>(environment);
        variables.put("TRIGON_NODE", node);
        Path log = directory.resolve("relay-%d.log".formatted(relays.size()));
        HostProgram relay = HostProgram.relay(network.by(node), log, variables);
        relays.add(relay);
        return relay;
    }
}
