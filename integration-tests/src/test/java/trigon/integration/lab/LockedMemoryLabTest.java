package trigon.integration.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.transport.path.LockedMemoryCheck;
import trigon.transport.testsupport.LaneVerbs;

/**
 * Registering memory where the process may lock little. Root may lock all there is: the process runs without that
 * right.
 */
@Timeout(180)
class LockedMemoryLabTest {

    private static final String LIMIT = Integer.toString(8 << 20);

    @Test
    void aRegistrationBeyondTheLimitIsAnErrorThatNamesItAndTheJobGoesOn(@TempDir Path directory) throws Exception {
        Path output = directory.resolve("output");
        Process process = new ProcessBuilder(List.of(
                        "setpriv",
                        "--bounding-set=-ipc_lock",
                        "prlimit",
                        "--memlock=" + LIMIT + ":" + LIMIT,
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "--enable-native-access=ALL-UNNAMED",
                        LaneVerbs.LIBRARY_OPTION,
                        LaneVerbs.EXPORTS_OPTION,
                        "-cp",
                        System.getProperty("java.class.path"),
                        LockedMemoryCheck.class.getName(),
                        directory.toString(),
                        LIMIT))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(150, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        String said = Files.readString(output);
        assertThat(process.exitValue()).as(said).isZero();
        assertThat(said).contains(LockedMemoryCheck.DONE);
    }
}
