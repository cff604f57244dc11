package trigon.integration.rdma;

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
import org.junit.jupiter.params.ParameterizedTest;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.NamespaceJob;
import trigon.integration.testsupport.SimulatedDevice;
import trigon.testsupport.Sampled;

/**
 * Two nodes with RDMA in subnets of their own, and routes of the kernel between them. Through a gateway TCP carries
 * the job unless the settings ask for RDMA; along a route without one RDMA does.
 */
@Timeout(300)
@Tag("long")
class RoutedRdmaIT {

    @TempDir
    private Path directory;

    private CableNamespaces network;
    private SimulatedDevice device;

    @BeforeEach
    void makeNodes() {
        network = CableNamespaces.open();
        device = new SimulatedDevice(network);
        List.of("a", "b").forEach(network::node);
        device.plugIn("a", "one");
        device.plugIn("b", "one");
    }

    @AfterEach
    void removeNodes() throws Exception {
        if (device != null) {
            device.close();
        }
        if (network != null) {
            network.close();
        }
    }

    @ParameterizedTest
    @Sampled({"off, TCP", "on, RDMA"})
    void aGatewayCarriesRdmaOnlyIfAskedTo(String setting, String carrier) throws Exception {
        network.node("router");
        network.cable("a", "one", "10.0.1.1/24", "router", "to_a", "10.0.1.254/24");
        network.cable("b", "one", "10.0.2.2/24", "router", "to_b", "10.0.2.254/24");
        network.inside("router", "sysctl -q -w net.ipv4.ip_forward=1");
        network.inside("a", "ip route add 10.0.2.0/24 via 10.0.1.254");
        network.inside("b", "ip route add 10.0.1.0/24 via 10.0.2.254");

        assertThat(sent(Map.of("TRIGON_ROUTES_RDMA", setting)))
                .allMatch(line -> line.contains(" (" + carrier + "), kernel route"));
    }

    @Test
    void aRouteWithoutAGatewayCarriesRdma() throws Exception {
        network.cable("a", "one", "10.0.1.1/32", "b", "one", "10.0.2.2/32");
        network.inside("a", "ip route add 10.0.2.2/32 dev one");
        network.inside("b", "ip route add 10.0.1.1/32 dev one");

        assertThat(sent(Map.of())).allMatch(line -> line.contains(" (RDMA), kernel route"));
    }

    /** The lines that say over what the ranks of a job send; it came to a good end. */
    private List<String> sent(Map<String, String> settings) throws Exception {
        Map<String, String> environment = new HashMap<>(HostProgram.QUICK_START);
        environment.putAll(device.environment());
        environment.remove("TRIGON_LINKS");
        environment.putAll(settings);
        Path folder = Files.createTempDirectory(directory, "job");
        try (NamespaceJob job = new NamespaceJob(device::by, folder, environment, List.of("a", "b"))) {
            job.awaitRounds(20);
            job.end();
            List<String> lines = job.output()
                    .lines()
                    .filter(line -> line.contains(" sends to "))
                    .toList();
            assertThat(lines).as(job.output()).isNotEmpty();
            return lines;
        }
    }
}
