package trigon.integration.networks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;

/**
 * Machines fresh from the box: cables are plugged in, and interfaces have nothing but the link-local IPv6 address that
 * the kernel gives them. Nodes in network namespaces.
 */
class LinkLocalIT {

    /** No relays, which a slow machine would take after a while. */
    private static final String PATIENT = "version: 1\nrelay: off\nhandshake: {timeout: 40s}\n";

    @TempDir
    Path directory;

    private CableNamespaces network;

    @BeforeEach
    void open() {
        assumeTrue(Files.exists(Path.of("/proc/self/net/if_inet6")), "IPv6 is off here");
        network = CableNamespaces.open();
        List.of("a", "b", "c").forEach(network::node);
    }

    @AfterEach
    void removeNodes() {
        if (network != null) {
            network.close();
        }
    }

    @Test
    void threeNodesWithThreeCablesNeedNoAddresses() throws Exception {
        network.cable("a", "to_b", "b", "to_a");
        network.cable("a", "to_c", "c", "to_a");
        network.cable("b", "to_c", "c", "to_b");

        List<String> outputs = run("a", "b", "c");

        assertThat(outputs.get(0))
                .contains("to_b: used by its link-local address")
                .contains("via to_b fe80:", "link-local");
        assertThat(outputs.get(1)).contains("via to_c fe80:");
        assertThat(outputs.get(2)).contains("via to_a fe80:");
    }

    @Test
    void ofTwoCablesBetweenTwoNodesEachFindsItsOtherEnd() throws Exception {
        network.cable("a", "one", "b", "one");
        network.cable("a", "two", "b", "two");
        network.cable("a", "elsewhere", "c", "elsewhere"); // nobody of the job is there

        assertThat(run("a", "b")).allSatisfy(output -> assertThat(output).contains("link-local"));
    }

    @Test
    @Tag("long")
    void subnetsOfBothEndsGoFirst() throws Exception {
        network.cable("a", "spare", "b", "spare");
        network.cable("a", "to_b", "10.0.12.1/24", "b", "to_a", "10.0.12.2/24");
        network.cable("a", "to_c", "10.0.13.1/24", "c", "to_a", "10.0.13.3/24");
        network.cable("b", "to_c", "c", "to_b");

        List<String> outputs = run("a", "b", "c");

        assertThat(outputs.get(0)).contains("10.0.12.2 via to_b 10.0.12.1/24").doesNotContain("via spare");
        assertThat(outputs.get(1)).contains("via to_c fe80:").doesNotContain("via spare");
        assertThat(outputs.get(2)).contains("10.0.13.1 via to_a 10.0.13.3/24");
    }

    /** The kernel of each node sends to all of the subnet over one cable. */
    @Test
    @Tag("long")
    void threeCablesInOneSubnetWork() throws Exception {
        network.cable("a", "to_b", "10.0.0.1/24", "b", "to_a", "10.0.0.2/24");
        network.cable("a", "to_c", "10.0.0.11/24", "c", "to_a", "10.0.0.3/24");
        network.cable("b", "to_c", "10.0.0.12/24", "c", "to_b", "10.0.0.13/24");

        List<String> outputs = run("a", "b", "c");

        assertThat(outputs)
                .allSatisfy(output ->
                        assertThat(output).contains("are in one subnet").contains("link-local IPv6"));
        assertThat(outputs.get(0)).contains("via to_b fe80:");
        assertThat(outputs.get(1)).contains("via to_c fe80:");
        assertThat(outputs.get(2)).contains("via to_a fe80:");
    }

    /** What each rank has printed, after all of them came to a good end. */
    private List<String> run(String... nodes) throws IOException {
        Path rendezvous = Files.createTempDirectory(directory, "rendezvous");
        Path config = Files.writeString(directory.resolve("patient.yaml"), PATIENT);
        List<HostProgram> hosts = new ArrayList<>();
        List.of(nodes).forEach(network::awaitLinkLocal);
        try {
            for (String node : nodes) {
                hosts.add(new HostProgram(
                        network.by(node),
                        HostProgram.distribution(),
                        directory.resolve(node + ".log"),
                        Map.of("TRIGON_CONFIG", config.toString()),
                        "--rank",
                        Integer.toString(hosts.size()),
                        "--ranks",
                        Integer.toString(nodes.length),
                        "--channels",
                        "2",
                        "--iterations",
                        "2",
                        "--timeout",
                        "100",
                        "--rendezvous",
                        rendezvous.toString()));
            }
            List<Integer> statuses = hosts.stream().map(HostProgram::exitStatus).toList();
            List<String> outputs = hosts.stream().map(HostProgram::output).toList();
            assertThat(statuses).as(String.join("\n", outputs)).containsOnly(0);
            return outputs;
        } finally {
            hosts.forEach(HostProgram::close);
        }
    }
}
