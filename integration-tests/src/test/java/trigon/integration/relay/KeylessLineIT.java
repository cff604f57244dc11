package trigon.integration.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.NamespaceJob;

/**
 * The line a-b-c-d of nodes without a cluster key, and without a network that they share: the last and the first rank
 * of the ring are joined by two relays, which takes the key of the job.
 */
@Timeout(600)
class KeylessLineIT {

    @TempDir
    Path directory;

    private CableNamespaces network;

    @BeforeEach
    void layCables() {
        network = CableNamespaces.open();
        List.of("a", "b", "c", "d").forEach(network::node);
        network.cable("a", "to_b", "10.79.12.1/24", "b", "to_a", "10.79.12.2/24");
        network.cable("b", "to_c", "10.79.23.2/24", "c", "to_b", "10.79.23.3/24");
        network.cable("c", "to_d", "10.79.34.3/24", "d", "to_c", "10.79.34.4/24");
    }

    @AfterEach
    void removeNodes() {
        if (network != null) {
            network.close();
        }
    }

    @Test
    void ringInTheOrderOfTheCablesWorks() throws Exception {
        Path file = Files.writeString(directory.resolve("line.yaml"), """
                version: 1
                links: software
                handshake: {timeout: 60s}
                nodes:
                  a: {nics: [{address: 10.79.12.1/24}]}
                  b: {nics: [{address: 10.79.12.2/24}, {address: 10.79.23.2/24}]}
                  c: {nics: [{address: 10.79.23.3/24}, {address: 10.79.34.3/24}]}
                  d: {nics: [{address: 10.79.34.4/24}]}
                """);
        try (NamespaceJob job = new NamespaceJob(
                network::by,
                Files.createDirectories(directory.resolve("job")),
                Map.of("TRIGON_CONFIG", file.toString()),
                List.of("a", "b", "c", "d"))) {
            job.awaitRounds(3);

            assertThat(job.ranks().getLast().output()).contains("relayed by c, b");
            job.end();
        }
    }
}
