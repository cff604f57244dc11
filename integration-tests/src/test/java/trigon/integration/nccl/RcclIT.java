package trigon.integration.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.cluster.machine.Machine;
import trigon.integration.testsupport.HostProgram;
import trigon.tools.Run;

/** The host program stands for RCCL: what the plugin offers to NCCL alone, RCCL does not get. */
@Timeout(240)
class RcclIT {

    private static final String PLUGIN =
            HostProgram.distribution().resolve("lib/libnccl-net-trigon.so").toString();

    @TempDir
    private Path root = Path.of("/nonexistent"); // until JUnit has set it

    /** Ends with that status; returns its output. */
    private String run(int status, String library, Map<String, String> more, String... options) throws Exception {
        Map<String, String> environment = new HashMap<>(HostProgram.QUICK_START);
        environment.put("TRIGON_LINKS", "software");
        environment.put("LD_LIBRARY_PATH", HostProgram.fakeRccl().toString());
        environment.putAll(more);
        List<String> words = new ArrayList<>(List.of("--as", library, "--ranks", "2", "--local-ranks", "2"));
        words.addAll(List.of(options));
        words.addAll(List.of(
                "--rendezvous", Files.createTempDirectory(root, "meeting").toString()));
        Path log = Files.createTempFile(root, "log", ".txt");
        try (HostProgram host = HostProgram.enabled(environment, log, words.toArray(String[]::new))) {
            assertThat(host.exitStatus()).as(host.output()).isEqualTo(status);
            return host.output();
        }
    }

    /** RCCL reads files of its own, and would take NCCL's word for nothing. */
    @Test
    void theFilesThatEnableWritesAreAllThatAJobNeeds() throws Exception {
        Path home = Files.createDirectories(root.resolve("home"));
        Machine machine = new Machine(
                root,
                Map.of("HOME", home.toString()),
                "here",
                "1.2.3",
                Optional.of(HostProgram.distribution().toRealPath()));

        assertThat(Run.of(machine, 500, "enable", "--user").status()).isZero();
        Files.delete(home.resolve(".nccl.conf"));
        assertThat(run(0, "rccl-current", Map.of("HOME", home.toString())))
                .contains("NET/Trigon : Trigon", " 0 wrong")
                .containsPattern("started on Java .* for RCCL");
    }

    /** One line says so; a default that nobody has changed costs none. */
    @Test
    void thereAreNoOneSidedCallsAndNoMemoryOfGpus() throws Exception {
        String wanted = run(
                0,
                "rccl-current",
                Map.of("TRIGON_ONE_SIDED", "on", "TRIGON_GPU_MEMORY", "auto"),
                "--plugin",
                PLUGIN,
                "--verbose");
        assertThat(wanted.lines().filter(line -> line.contains("one-sided communication is off")))
                .singleElement()
                .asString()
                .contains("RCCL calls");
        assertThat(wanted)
                .contains("RCCL finds nothing for one-sided calls", "GPU memory is off: RCCL calls", "pointers 1,");

        assertThat(run(0, "rccl-current", Map.of(), "--plugin", PLUGIN))
                .contains("RCCL finds nothing for one-sided calls")
                .doesNotContain("one-sided communication", "GPU memory is off");
        assertThat(run(1, "rccl-current", Map.of("TRIGON_GPU_MEMORY", "on"), "--plugin", PLUGIN))
                .contains("gpuMemory is on, but RCCL calls");
    }

    private static List<String> decisions(String output) {
        return output.lines().filter(line -> line.startsWith("{\"rank\": 0")).toList();
    }

    /** The rules of the built-in tuner are for NCCL: whenever RCCL looks, its own table decides. */
    @Test
    void withoutAPolicyRcclsOwnTableDecides() throws Exception {
        String[] asked = {"--plugin", PLUGIN, "--tuner", "5", "--nodes", "2", "--iterations", "1", "--print-json"};
        List<String> words = new ArrayList<>(List.of(asked));
        String nccl = run(0, "nccl", Map.of(), asked);
        String rccl = run(0, "rccl-current", Map.of(), asked);
        words.add("--without-net");
        String early = run(0, "rccl-current", Map.of(), words.toArray(String[]::new));

        assertThat(nccl).contains("found ncclTunerPlugin_v5");
        assertThat(rccl).contains("there is no ncclTunerPlugin_v5");
        assertThat(early).contains("found ncclTunerPlugin_v5");
        assertThat(decisions(early)).hasSizeGreaterThan(20).isEqualTo(decisions(rccl));
        assertThat(decisions(nccl)).isNotEqualTo(decisions(rccl));
    }
}
