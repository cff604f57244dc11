package trigon.entry;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.testsupport.Sampled;

/** The host program plays NCCL with the loopback transport behind the entry: all ranks in one process. */
class NcclHostIT {

    private static final String PLUGIN = ChildProcess.PLUGIN.toString();

    @TempDir
    private Path scratch;

    @ParameterizedTest
    @Sampled({"8", "9", "10", "11", "12"})
    void bearsWhatNcclDoes(int api) throws Exception {
        ChildProcess host = ChildProcess.host(
                scratch, Map.of(), "--plugin", PLUGIN, "--api", Integer.toString(api), "--mode", "contract");

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stderr()).contains("0 checks failed").doesNotContain("FAILED");
        assertThat(host.stdout()).isEmpty();
    }

    @ParameterizedTest
    @Sampled({"8, 1000012", "9, 4", "10, 0", "11, 1000012", "12, 3000004"})
    void reducesAcrossThreeRanks(int api, long bytes) throws Exception {
        ChildProcess host = ring(Map.of(), api, bytes);

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stdout().lines())
                .hasSize(3)
                .allSatisfy(line -> assertThat(line).contains("\"plugin\": \"Trigon\"", "\"wrong\": 0"));
    }

    /** The plugin gives an error to a call that C should have answered: for a finished request. */
    @ParameterizedTest
    @Sampled({"8", "9", "10", "11", "12"})
    void answersWithoutJava(int api) throws Exception {
        ChildProcess host = ring(Map.of("LOOPBACK_FAULT", "shown"), api, 1000012);

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stdout().lines())
                .hasSize(3)
                .allSatisfy(line -> assertThat(line).contains("\"plugin\": \"Trigon\"", "\"wrong\": 0"));
    }

    @Test
    void exchangesMessagesOfManySizes() throws Exception {
        ChildProcess host = ChildProcess.host(
                scratch,
                Map.of(),
                "--plugin",
                PLUGIN,
                "--test",
                "exchange",
                "--ranks",
                "2",
                "--local-ranks",
                "2",
                "--channels",
                "2",
                "--bytes",
                "70000",
                "--rendezvous",
                scratch.resolve("rendezvous").toString());

        assertThat(host.exit()).as(host.stderr()).isZero();
    }

    @Test
    void tellsNcclWhyTheStartFailed() throws Exception {
        ChildProcess host = ring(Map.of("LOOPBACK_FAULT", "create"), 12, 4);

        assertThat(host.exit()).isEqualTo(1);
        assertThat(host.stderr()).contains("told to fail at the start", "init returned 3 (internal error)");
    }

    @Test
    void passesTextToNcclAsItStands() throws Exception {
        ChildProcess host = ring(Map.of("LOOPBACK_FAULT", "connect"), 12, 4);

        assertThat(host.exit()).isEqualTo(1);
        assertThat(host.stderr()).contains("told to fail in connect: %s%n");
    }

    @Test
    void survivesRunningOutOfMemoryInACall() throws Exception {
        ChildProcess host = ring(Map.of("LOOPBACK_FAULT", "test-memory"), 12, 4);

        assertThat(host.exit()).isEqualTo(1);
        assertThat(host.stderr()).contains("out of memory", "test of message 0 returned 3");
    }

    @Test
    void survivesRunningOutOfStackInACall() throws Exception {
        ChildProcess host = ring(Map.of("LOOPBACK_FAULT", "isend-stack"), 12, 4);

        assertThat(host.exit()).isEqualTo(1);
        assertThat(host.stderr()).contains("out of stack", "isend of message 0 returned 3");
    }

    @Test
    void namesTheDirectoryWithoutJars() throws Exception {
        ChildProcess host = ring(Map.of("TRIGON_HOME", scratch.toString()), 12, 4);

        assertThat(host.exit()).isEqualTo(1);
        assertThat(host.stderr()).contains("no jars in " + scratch.toRealPath() + "/jars", "system error");
    }

    @Test
    void namesTheRuntimeThatIsMissing() throws Exception {
        ChildProcess host = ring(Map.of("JAVA_HOME", scratch.toString()), 12, 4);

        assertThat(host.exit()).isEqualTo(1);
        assertThat(host.stderr())
                .contains("runtime/lib/server/libjvm.so is missing", "JAVA_HOME=" + scratch, "no JDK or JRE 25");
    }

    @Test
    void prefersTheRuntimeOfTheInstallation() throws Exception {
        Path home = Files.createDirectories(scratch.resolve("home with blanks"));
        Files.createSymbolicLink(home.resolve("jars"), ChildProcess.HOME.resolve("jars"));
        Files.createSymbolicLink(home.resolve("runtime"), Path.of(System.getProperty("java.home")));
        ChildProcess host = ring(Map.of("TRIGON_HOME", home.toString(), "JAVA_HOME", "/nowhere"), 12, 4);

        assertThat(host.exit()).as(host.stderr()).isZero();
    }

    @Test
    void outlivesAJvmThatGivesUp() throws Exception {
        ChildProcess host = ring(Map.of("TRIGON_JAVA_OPTS", "-XX:+UseG1GC -XX:+UseParallelGC"), 12, 4);

        assertThat(host.exit()).isEqualTo(1);
        assertThat(host.stderr())
                .contains("did not start", "Multiple garbage collectors selected", "init returned 2 (system error)");
    }

    @Test
    void takesAnotherCollectorFromTheEnvironment() throws Exception {
        ChildProcess host = ring(Map.of("TRIGON_JAVA_OPTS", "-XX:+UseG1GC"), 12, 4);

        assertThat(host.exit()).as(host.stderr()).isZero();
    }

    @Test
    void keepsBlanksInQuotes() throws Exception {
        Path file = scratch.resolve("a file.log");
        ChildProcess host = ring(Map.of("TRIGON_JAVA_OPTS", "  '-Xlog:os:file=\"" + file + "\"'  -Dx=\"1 2\" "), 12, 4);

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(file).exists();
    }

    @Test
    void logsAsMuchAsNcclIsAskedFor() throws Exception {
        assertThat(ring(Map.of(), 12, 4).stderr()).doesNotContain("NET/Trigon");
        assertThat(ring(Map.of("NCCL_DEBUG", "INFO"), 12, 4).stderr()).contains("NCCL INFO NET/Trigon : started on");
        assertThat(ring(Map.of("TRIGON_LOG", "info"), 12, 4).stderr()).startsWith("NET/Trigon : started on");
    }

    private ChildProcess ring(Map<String, String> environment, int api, long bytes) throws Exception {
        Path rendezvous = Files.createTempDirectory(scratch, "rendezvous");
        return ChildProcess.host(
                scratch,
                environment,
                "--plugin",
                PLUGIN,
                "--api",
                Integer.toString(api),
                "--ranks",
                "3",
                "--local-ranks",
                "3",
                "--channels",
                "2",
                "--bytes",
                Long.toString(bytes),
                "--slice-bytes",
                "65536",
                "--rendezvous",
                rendezvous.toString(),
                "--print-json");
    }
}
