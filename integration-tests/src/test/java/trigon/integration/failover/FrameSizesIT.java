package trigon.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;

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

/**
 * Jobs of nodes whose ports have an MTU of 9000, and a switch between them one of 1500: small frames pass, and those of
 * the full size vanish. Nodes in network namespaces.
 */
@Timeout(300)
class FrameSizesIT {

    private static final String LOST = "packets of 9000 bytes are lost between 10.0.1.1 and 10.0.1.2";

    @TempDir
    Path directory;

    private CableNamespaces network;

    @BeforeEach
    void makeNodes() {
        network = CableNamespaces.open();
        network.node("a");
        network.node("b");
    }

    @AfterEach
    void removeNodes() {
        if (network != null) {
            network.close();
        }
    }

    private String wire(int mtu, int number) {
        String wire = network.switched(mtu, "a eth" + number, "b eth" + number);
        network.addresses("a eth%1$d 10.0.%1$d.1/24".formatted(number), "b eth%1$d 10.0.%1$d.2/24".formatted(number));
        return wire;
    }

    private String wire(int number, String one, String other) {
        String wire = network.switched(9000, one + " eth" + number, other + " eth" + number);
        network.addresses(
                "%s eth%2$d 10.0.%2$d.1/24".formatted(one, number),
                "%s eth%2$d 10.0.%2$d.2/24".formatted(other, number));
        return wire;
    }

    private NamespaceJob job() throws Exception {
        return job("a", "b");
    }

    private NamespaceJob job(String... nodes) throws Exception {
        Map<String, String> environment = new HashMap<>(HostProgram.QUICK_START);
        environment.put("TRIGON_STRIPES", "one");
        return new NamespaceJob(network::by, directory, environment, List.of(nodes), "--verbose");
    }

    @Test
    void theOnlyPathIsUsedInSmallPacketsAndTheLogSaysWhy() throws Exception {
        wire(1500, 1);

        try (NamespaceJob job = job()) {
            job.awaitRounds(5);
            assertThat(job.output()).contains(LOST).contains("set one MTU on both ports and on the switches");
            job.end();
        }
    }

    @Test
    void anotherPathIsTakenFirst() throws Exception {
        wire(1500, 1);
        wire(9000, 2);

        try (NamespaceJob job = job()) {
            job.awaitRounds(5);
            assertThat(job.output()).contains("via eth2 10.0.2.").doesNotContain("goes on over");
            job.end();
        }
    }

    @Test
    void aPathThatLosesLongPacketsUnderAJobIsLeft() throws Exception {
        String first = wire(9000, 1);
        wire(9000, 2);

        try (NamespaceJob job = job()) {
            job.awaitRounds(5);
            network.limit(first, 2, 1500);
            job.awaitRounds(50);
            assertThat(job.output()).contains(LOST).containsPattern("goes on over eth2 .* instead of eth1");
            job.end();
        }
    }

    @Test
    void theOnlyPathThatLosesLongPacketsUnderAJobIsUsedInSmallOnes() throws Exception {
        String only = wire(9000, 1);

        try (NamespaceJob job = job()) {
            job.awaitRounds(5);
            network.limit(only, 2, 1500);
            job.awaitRounds(50);
            assertThat(job.output())
                    .contains(LOST)
                    .containsPattern("goes on over eth1 .* instead of eth1 .*full size are lost");
            job.end();
        }
    }

    /** The relay has the messages that are stuck, and the sender's kernel does not know of that. */
    @Test
    @Tag("long")
    void aHopBehindARelayThatLosesLongPacketsIsLeft() throws Exception {
        List.of("c", "d").forEach(network::node);
        wire(1, "a", "c");
        String hop = wire(2, "c", "b");
        wire(3, "b", "d");
        wire(4, "d", "a");

        try (NamespaceJob job = job("a", "b", "c", "d")) {
            job.awaitRounds(5);
            network.limit(hop, 2, 1500);
            job.awaitRounds(50);
            assertThat(job.output()).containsPattern("goes on over");
            job.end();
        }
    }
}
