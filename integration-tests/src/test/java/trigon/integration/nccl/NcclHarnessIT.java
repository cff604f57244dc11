package trigon.integration.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.ProjectFiles;

/** What judges real NCCL: its own tests, in Python, which need no GPU. Those of the patterns need PyTorch. */
@Timeout(660)
@Tag("long")
class NcclHarnessIT {

    @TempDir
    private Path directory;

    @Test
    void theTestsOfTheTestsPass() throws Exception {
        Path output = directory.resolve("output");
        ProcessBuilder python = new ProcessBuilder("python3", "-m", "unittest", "-v")
                .directory(
                        ProjectFiles.PROJECT.resolve("integration-tests/nccl").toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        python.environment()
                .put("TRIGON_DISTRIBUTION", HostProgram.distribution().toString());
        python.environment().put("PYTHONDONTWRITEBYTECODE", "1");

        var tests = python.start();
        try {
            assertThat(tests.waitFor(600, TimeUnit.SECONDS)).as("ends").isTrue();
        } finally {
            tests.destroyForcibly();
        }

        String said = Files.readString(output);
        System.out.println(said);
        assertThat(tests.exitValue()).as(said).isZero();
        assertThat(said).containsPattern("Ran [1-9]\\d* tests");
    }
}
