package trigon.integration.testsupport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/** RDMA devices on network namespaces' interfaces, and what goes wrong with them. Closing removes their fabric. */
public final class SimulatedDevice implements AutoCloseable {

    private static final Path FOLDER =
            Path.of(System.getProperty("trigon.odd.host")).resolveSibling("simulated");
    private static final Path FAKE_SYSFS =
            Path.of("../testing/simulated-device/fake-sysfs.sh").toAbsolutePath();

    private static final int COMMAND_SECONDS = 60;
    private static final Pattern STRIKES = Pattern.compile("strikes ([0-9]+)");
    private static final AtomicInteger MADE = new AtomicInteger();

    private final CableNamespaces network;
    private final Map<String, List<String>> devices = new HashMap<>();
    private final String fabric =
            "/dev/shm/trigon-fabric-" + ProcessHandle.current().pid() + "-" + MADE.incrementAndGet();

    /** Of those nodes; see {@link #assumeBuilt}. */
    public SimulatedDevice(CableNamespaces network) {
        this.network = network;
        assumeBuilt();
    }

    /** Skips the test where the device was not built; fails where the build must have all it needs. */
    public static void assumeBuilt() {
        Path library = FOLDER.resolve("libibverbs.so.1");
        if ("required".equals(System.getenv("TRIGON_CONTAINERS"))) {
            assertThat(library).as("the simulated device").exists();
        }
        assumeThat(library)
                .as("the simulated device, which needs libibverbs-dev")
                .exists();
    }

    /** These interfaces of a node are devices from now on, of the same name, or of that in {@code name=interface}. */
    public void plugIn(String node, String... interfaces) {
        for (String each : interfaces) {
            devices.computeIfAbsent(node, _ -> new ArrayList<>()).add(each.contains("=") ? each : each + "=" + each);
        }
    }

    /** The environment of a process. */
    public Map<String, String> environment() {
        return Map.of("LD_LIBRARY_PATH", FOLDER.toString(), "SIMVERBS_FABRIC", fabric, "TRIGON_LINKS", "rdma");
    }

    /** What goes before a command that is to run on a node, and see its devices as NICs. */
    public List<String> by(String node) {
        String names = String.join(",", devices.getOrDefault(node, List.of()));
        List<String> command = new ArrayList<>(network.by(node));
        command.addAll(List.of("env", "SIMVERBS_NODE=" + node, "SIMVERBS_DEVICES=" + names));
        command.addAll(List.of(FAKE_SYSFS.toString(), "simulated"));
        return command;
    }

    /** Has something go wrong, or right again: a line of {@code simverbs-ctl}. Returns what it prints. */
    public String control(String line) {
        boolean isCommand = line.startsWith("port ") || line.startsWith("device ");
        List<String> command =
                new ArrayList<>(List.of(FOLDER.resolve("simverbs-ctl").toString(), fabric));
        command.addAll(isCommand ? List.of(line.split(" ", -1)) : List.of(line));
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS))
                    .as("%s ends", command)
                    .isTrue();
            assertThat(process.exitValue()).as("%s: %s", command, output).isZero();
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /** How often the rules have struck. */
    public long strikes() {
        return STRIKES.matcher(control("rules"))
                .results()
                .mapToLong(match -> Long.parseLong(match.group(1)))
                .sum();
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(Path.of(fabric));
        Files.deleteIfExists(Path.of(fabric + ".locks"));
    }
}
