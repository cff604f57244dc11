package trigon.tools.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.tools.Run;
import trigon.trace.Fields;
import trigon.trace.Recorder;
import trigon.trace.TableLayout;

class TraceCommandTest {

    @TempDir
    private Path scratch;

    @Test
    void theCommandSeesTheFolderAndItsStatusIsKept() {
        Path folder = scratch.resolve("traces");

        Run run =
                Run.of(Map.of(), "trace", "--out", folder.toString(), "--", "sh", "-c", "mkdir $TRIGON_TRACE; exit 3");

        assertThat(run.status()).isEqualTo(3);
        assertThat(run.err()).contains(folder + " has no files that end with .trace");
    }

    @Test
    void aJobThatWritesNoTraceIsAMistake() {
        Run run = Run.of(Map.of(), "trace", "--out", scratch.resolve("none").toString(), "--", "true");

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).contains("no process of 'true' has written a trace");
    }

    @Test
    void tracesAreNotMixed() {
        Run run = Run.of(Map.of(), "trace", "--out", scratch.toString(), "--", "true");

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).contains(scratch + " already exists").contains("--out");
    }

    @Test
    void aCommandThatIsNotThereIsNamed() {
        Run run = Run.of(Map.of(), "trace", "--out", scratch.resolve("none").toString(), "--", "/no/such/program");

        assertThat(run.status()).isEqualTo(127);
        assertThat(run.err()).contains("/no/such/program");
    }

    @Test
    void aReportIsWrittenToFiles() throws IOException {
        Path folder = scratch.resolve("traces");
        Fields process =
                Fields.of("host", "a", "boot", "a", "pid", -1, "rank", 0, "time", 1_000_000, "real", 1_000_000);
        try (Arena arena = Arena.ofConfined();
                Recorder recorder = Recorder.begin(
                        folder,
                        scratch,
                        "a-0",
                        process,
                        arena.allocate(TableLayout.BYTES, 64).address(),
                        _ -> {})) {
            recorder.event("something", Fields.of("kind", "test"));
        }
        Path page = scratch.resolve("report.html");
        Path lines = scratch.resolve("report.jsonl");

        Run run = Run.of(Map.of(), "report", "--html", page.toString(), "--json", lines.toString(), folder.toString());

        assertThat(run.status()).as(run.err()).isZero();
        assertThat(Files.readString(page)).contains("<html");
        assertThat(lines).isNotEmptyFile();
    }

    @Test
    void aFolderThatIsNotThereIsSaid() {
        Run run = Run.of(Map.of(), "report", scratch.resolve("none").toString());

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out() + run.err()).contains("none does not exist");
    }

    @Test
    void aReportNeedsAFolder() {
        assertThat(Run.of(Map.of(), "report").status()).isEqualTo(2);
    }
}
