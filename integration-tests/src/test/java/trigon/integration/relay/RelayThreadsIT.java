package trigon.integration.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.NamespaceJob;

/** Threads of relays are there where relays are needed, and nowhere else. */
@Timeout(300)
class RelayThreadsIT {

    private static final String TOPOLOGY = "trigon-topology";
    private static final String RELAY = "trigon-relay-0";

    @TempDir
    Path directory;

    private CableNamespaces network;

    @BeforeEach
    void layCables() {
        network = CableNamespaces.open();
        List.of("a", "b", "c").forEach(network::node);
        network.cable("a", "toB", "10.79.12.1/24", "b", "toA", "10.79.12.2/24");
        network.cable("b", "toC", "10.79.23.2/24", "c", "toB", "10.79.23.3/24");
    }

    @AfterEach
    void removeNodes() {
        if (network != null) {
            network.close();
        }
    }

    @Test
    @Tag("long")
    void twoNodesWithACableHaveNone() throws Exception {
        try (NamespaceJob job = job("a", "b")) {
            job.awaitRounds(2);
            for (int rank = 0; rank < 2; rank++) {
                assertThat(job.threads(rank)).contains("trigon-software").doesNotContain(TOPOLOGY, RELAY);
            }
            job.end();
        }
    }

    @Test
    void aNodeInTheMiddleIsWokenByItsNeighbours() throws Exception {
        try (NamespaceJob job = job("a", "b", "c")) {
            job.awaitRounds(2);
            assertThat(job.threads(1)).contains(TOPOLOGY, RELAY);
            assertThat(job.threads(2)).contains(TOPOLOGY).doesNotContain(RELAY);
            job.end();
        }
    }

    private NamespaceJob job(String... nodes) throws Exception {
        Path file = Files.writeString(directory.resolve("line.yaml"), """
                version: 1
                links: software
                handshake: {timeout: 40s, peerTimeout: 60s}
                nodes:
                  a: {nics: [{address: 10.79.12.1/24}]}
                  b: {nics: [{address: 10.79.12.2/24}, {address: 10.79.23.2/24}]}
                  c: {nics: [{address: 10.79.23.3/24}]}
                """);
        Map<String, String> environment = new HashMap<>(HostProgram.QUICK_START);
        environment.put("TRIGON_CONFIG", file.toString());
        return new NamespaceJob(
                network::by, Files.createDirectories(directory.resolve("job")), environment, List.of(nodes));
    }
}
