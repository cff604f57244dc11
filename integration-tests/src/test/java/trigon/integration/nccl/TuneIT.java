package trigon.integration.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.HostProgram;

/** A program with NCCL's part is run under {@code trigon tune}: what is faster becomes a policy. */
@Timeout(800)
class TuneIT {

    private static final Path DISTRIBUTION = HostProgram.distribution();
    private static final long DEADLINE_SECONDS = 350;

    /** Two ranks that ask the tuner; all that is not a ring with Simple and two channels is made slow. */
    private static final String JOB = """
            meeting="$1/meeting-$$"
            rank() {
              "$0/libexec/nccl-host" --plugin "$0/lib/libnccl-net-trigon.so" --api 11 --profiler 5 --tuned 1000 \\
                --ranks 2 --rank $1 --channels 2 --bytes 32768 --iterations 1200 --rendezvous "$meeting"
            }
            rank 0 & first=$!
            rank 1 && wait $first
            """;

    @TempDir
    private Path directory;

    private Path table() {
        return directory.resolve("tuned.o");
    }

    private String trigon(int status, String... words) throws IOException, InterruptedException {
        Path cluster = Files.writeString(directory.resolve("trigon.yaml"), """
            version: 1
            links: software
            nodes:
              a: {nics: [{address: 127.0.32.1/24}]}
            """);
        List<String> command =
                new ArrayList<>(List.of(DISTRIBUTION.resolve("bin/trigon").toString()));
        command.addAll(List.of(words));
        Path output = Files.createTempFile(directory, "output", ".txt");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().put("TRIGON_CONFIG", cluster.toString());
        builder.environment().put("TRIGON_NODE", "a");
        Process process = builder.start();
        try {
            boolean ended = process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS);
            assertThat(ended).as("it has ended: %s", Files.readString(output)).isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        assertThat(process.exitValue()).as(Files.readString(output)).isEqualTo(status);
        return Files.readString(output);
    }

    @Test
    void theFasterChoiceBecomesAPolicy() throws Exception {
        String traces = directory.resolve("traces").toString();

        String said = trigon(
                0,
                "tune",
                "--out",
                table().toString(),
                "--traces",
                traces,
                "--",
                "sh",
                "-c",
                JOB,
                DISTRIBUTION.toString(),
                directory.toString());

        assertThat(said)
                .containsPattern("AllReduce +2 +2 +32768 +Tree/LL/2 +[0-9]+ +Ring/Simple/2 ")
                .contains("export TRIGON_POLICY=" + table());
        assertThat(Files.exists(directory.resolve("tuned.o.turns"))).isFalse();
        assertThat(trigon(0, "policy", "test", table().toString(), "--ranks", "2", "--nodes", "2"))
                .containsPattern("32K +32K +ring, Simple, 2 channels");
    }

    @Test
    void aProgramThatFailsLeavesNothing() throws Exception {
        String traces = directory.resolve("traces").toString();

        assertThat(trigon(1, "tune", "--out", table().toString(), "--traces", traces, "--", "false"))
                .contains("false failed with exit status 1");
        assertThat(trigon(1, "tune", "--out", table().toString(), "--traces", traces, "--", "true"))
                .contains("no process of the program has written a trace");
        assertThat(Files.exists(table())).isFalse();
    }

    @Test
    @Tag("long")
    void withoutAProgramOneTwoAndFourConnectionsAreMeasured() throws Exception {
        assertThat(trigon(0, "tune"))
                .containsPattern("0 and 1 +1 +[0-9.]+ +[0-9.]+ +[0-9.]+")
                .containsPattern("0 and 1 +2 +[0-9.]+ +[0-9.]+ +[0-9.]+")
                .containsPattern("0 and 1 +4 +[0-9.]+ +[0-9.]+ +[0-9.]+");
    }
}
