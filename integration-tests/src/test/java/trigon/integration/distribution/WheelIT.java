package trigon.integration.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.integration.testsupport.ProjectFiles;

/** The wheel's own tests, in Python. */
@Timeout(240)
class WheelIT {

    private record End(int exit, String said) {}

    private static End python(String... arguments) throws IOException, InterruptedException {
        String[] command = new String[arguments.length + 1];
        command[0] = "python3";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(ProjectFiles.PROJECT.resolve("dist/package/test").toFile())
                .redirectErrorStream(true);
        builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
        Process process = builder.start();
        try {
            process.getOutputStream().close();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(10, TimeUnit.SECONDS)).as(said).isTrue();
            return new End(process.exitValue(), said);
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void serversFindTheEntryPointsAndCallThem() throws Exception {
        assumeThat(python("-c", "import importlib.metadata, venv").exit())
                .as("exit status of python3 3.8 or later, with venv")
                .isZero();

        End end = python("-m", "unittest", "-v", "test_entry_points");

        assertThat(end.exit()).as(end.said()).isZero();
        assertThat(end.said()).containsPattern("Ran [1-9]\\d* tests");
    }
}
