package trigon.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.SimulatedDevice;
import trigon.testsupport.Sampled;
import trigon.transport.testsupport.LaneVerbs;

/**
 * The lab's contracts and faults, of which SoftRoCE is the other witness, on simulated devices that are called as its
 * are: six on three cables of one node, all within one process, a JVM of their own.
 */
@Timeout(600)
@Tag("long")
class SimulatedContractsIT {

    private static final String LAB = "trigon.integration.lab.";

    @TempDir
    private Path directory;

    @ParameterizedTest
    @Sampled({
        "LibibverbsContractLabTest",
        "NetPluginLabTest StripedNetPluginLabTest OneSidedLabTest",
        "ChurnLabTest AbortLabTest QueuePairErrorLabTest FailedCommunicatorLabTest"
    })
    void hold(String tests) throws Exception {
        try (CableNamespaces network = CableNamespaces.open();
                SimulatedDevice device = new SimulatedDevice(network)) {
            network.node("lab");
            cable(network, device, "ab 10.0.12.1/24", "ba 10.0.12.2/24");
            cable(network, device, "ac 10.0.13.1/24", "ca 10.0.13.3/24");
            cable(network, device, "bc 10.0.23.2/24", "cb 10.0.23.3/24");

            assertThat(run(device, tests)).contains("0 tests failed");
        }
    }

    private static void cable(CableNamespaces network, SimulatedDevice device, String one, String other) {
        String[] first = one.split(" ", -1);
        String[] second = other.split(" ", -1);
        network.cable("lab", first[0], first[1], "lab", second[0], second[1]);
        device.plugIn("lab", "rxe_" + first[0] + "=" + first[0], "rxe_" + second[0] + "=" + second[0]);
    }

    /** What JUnit prints; all have passed. */
    private String run(SimulatedDevice device, String tests) throws Exception {
        List<String> command = new ArrayList<>(device.by("lab"));
        command.add(ProcessHandle.current().info().command().orElseThrow());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:NativeMemoryTracking=summary"));
        command.add(LaneVerbs.LIBRARY_OPTION);
        command.add(LaneVerbs.EXPORTS_OPTION);
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path")));
        command.addAll(List.of("org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner"));
        command.addAll(List.of("--disable-ansi-colors", "--details=tree", "--details-theme=ascii"));
        for (String test : tests.split(" ", -1)) {
            command.add("--select-class=" + LAB + test);
        }
        File output = directory.resolve("output.txt").toFile();
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output);
        builder.environment().keySet().removeIf(name -> name.startsWith("TRIGON_") || name.contains("JAVA"));
        builder.environment().putAll(device.environment());
        builder.environment().remove("TRIGON_LINKS");
        builder.environment().put("SIMVERBS_SIMPLE_GIDS", "yes"); // as rxe has them
        Process process = builder.start();
        try {
            assertThat(process.waitFor(500, TimeUnit.SECONDS)).isTrue();
            String said = Files.readString(output.toPath());
            assertThat(process.exitValue()).as(said).isZero();
            return said;
        } finally {
            process.destroyForcibly();
        }
    }
}
