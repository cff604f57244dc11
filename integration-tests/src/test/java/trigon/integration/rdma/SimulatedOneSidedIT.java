package trigon.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.SimulatedDevice;
import trigon.testsupport.Sampled;

/**
 * One-sided communication between two processes, over two RDMA links that fail as soon as the ranks are connected. The
 * host looks at each byte and each signal.
 */
@Timeout(300)
@Tag("long")
class SimulatedOneSidedIT {

    @TempDir
    private Path directory;

    private CableNamespaces network;
    private SimulatedDevice device;

    @BeforeEach
    void layCables() {
        network = CableNamespaces.open();
        device = new SimulatedDevice(network);
        network.node("both");
        network.cable("both", "ab", "10.0.12.1/24", "both", "ba", "10.0.12.2/24");
        network.cable("both", "ac", "10.0.13.1/24", "both", "ca", "10.0.13.2/24");
        device.plugIn("both", "ab", "ba", "ac", "ca");
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

    /** A queue pair may fail before anything has gone over it. */
    @ParameterizedTest
    @Sampled({
        "gin, all, qp both/ab * error",
        "rma, all, qp both/ab * error",
        "gin, one, cut both/ab>both/ba",
        "rma, all, break both/ab>both/ba executed 40 acked 20",
        "gin, all, hold both/ab>both/ba 2s after 20 times 1"
    })
    void nothingIsLostOrDoneTwiceAfter(String order, String stripes, String rule) throws Exception {
        Path nodes = Files.writeString(directory.resolve("nodes.yaml"), """
                version: 1
                links: rdma
                nodes:
                  a: {nics: [{device: ab, address: 10.0.12.1/24}, {device: ac, address: 10.0.13.1/24}]}
                  b: {nics: [{device: ba, address: 10.0.12.2/24}, {device: ca, address: 10.0.13.2/24}]}
                """);
        Map<String, String> environment = new HashMap<>(HostProgram.QUICK_START);
        environment.putAll(device.environment());
        environment.put("TRIGON_CONFIG", nodes.toString());
        environment.put("TRIGON_ONE_SIDED", "on");
        environment.put("TRIGON_STRIPES", stripes);
        try (HostProgram host = HostProgram.oneSided(
                device.by("both"),
                directory.resolve("output.txt"),
                environment,
                "--nodes",
                "a,b",
                "--order",
                order,
                "--ranks",
                "2",
                "--test",
                "rounds",
                "--count",
                "100")) {
            host.awaitOutput("sends to");
            device.control(rule);

            assertThat(host.exitStatus()).as(host::output).isZero();
            assertThat(host.output()).contains("\"wrong\": 0");
        }
    }
}
