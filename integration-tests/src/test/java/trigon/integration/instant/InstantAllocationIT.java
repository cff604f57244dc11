package trigon.integration.instant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.testsupport.Sampled;
import trigon.transport.testsupport.LaneVerbs;

/**
 * The data path over RDMA links allocates nothing, with one queue pair and with several, through the classes that serve
 * libibverbs: here that of the instant device. A JVM of its own, since a library is found by its environment.
 *
 * <p>Both ways to call ibv_post_send: that for devices whose driver is known to post without a system call, and the
 * other.
 */
@Timeout(300)
@Tag("long")
class InstantAllocationIT {

    static final String NODES = "a: {nics: [{address: 127.0.0.1/8}]}\n";

    private static final Path DEVICE =
            Path.of(System.getProperty("trigon.odd.host")).resolveSibling("simulated");
    private static final Path FAKE_SYSFS =
            Path.of("../testing/simulated-device/fake-sysfs.sh").toAbsolutePath();
    private static final String NOT_KNOWN = "none that is known";

    @TempDir
    private Path scratch;

    @BeforeEach
    void theDeviceIsThere() {
        assumeThat(DEVICE.resolve("libibverbs.so.1"))
                .as("the instant device, which needs libibverbs-dev")
                .exists();
    }

    @ParameterizedTest
    @Sampled({NOT_KNOWN, "mlx5_core"})
    void noCallAllocatesWithTheDriver(String driver) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        if (!driver.equals(NOT_KNOWN)) {
            command.addAll(List.of("unshare", "-r", FAKE_SYSFS.toString(), "simulated"));
            assumeThat(exit(command, "true"))
                    .as("unshare may make a mount namespace with another /sys/class")
                    .isZero();
        }
        command.add(Path.of(System.getProperty("java.home"), "bin/java").toString());
        command.add("--enable-native-access=ALL-UNNAMED");
        command.add(LaneVerbs.LIBRARY_OPTION);
        command.add(LaneVerbs.EXPORTS_OPTION);
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add("org.junit.platform.console.ConsoleLauncher");
        command.addAll(List.of("execute", "--disable-banner", "--disable-ansi-colors", "--details=tree"));
        command.add("--select-class=" + RendezvousAllocation.class.getName());
        command.add("--select-class=" + StripedAllocation.class.getName());

        int exit = exit(command);

        String said = Files.readString(scratch.resolve("output.txt"));
        assertThat(exit).as(said).isZero();
        assertThat(said).contains("12 tests successful").contains("0 tests skipped");
    }

    private int exit(List<String> command, String... more) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(command);
        all.addAll(List.of(more));
        ProcessBuilder builder = new ProcessBuilder(all)
                .redirectErrorStream(true)
                .redirectOutput(scratch.resolve("output.txt").toFile());
        builder.environment().putAll(Map.of("LD_LIBRARY_PATH", DEVICE.toString(), "SIMVERBS_INSTANT", "1"));
        Process process = builder.start();
        try {
            assertThat(process.waitFor(240, TimeUnit.SECONDS))
                    .as("ended within 240 s")
                    .isTrue();
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }
}
