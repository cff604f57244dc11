package trigon.entry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.testsupport.Sampled;

/** The plugin in a Python process, as with PyTorch: signals, forks, another JVM. The cases are in guest.py. */
class PythonGuestIT {

    private static final int KILLED = 128;

    @TempDir
    private Path scratch;

    @ParameterizedTest
    @Sampled({"signals", "fork", "fork_before", "calls_without_init", "many_inits"})
    void isAGoodGuest(String name) throws Exception {
        ChildProcess python = python(name, Map.of());

        assertThat(python.exit()).as(python.stderr()).isZero();
        assertThat(python.stdout()).isEmpty();
    }

    @Test
    @Tag("long")
    void hidesItsNullChecksFromALateFaulthandler() throws Exception {
        ChildProcess python = python("late_faulthandler", Map.of("LOOPBACK_FAULT", "null-checks"));

        assertThat(python.exit()).as(python.stderr()).isZero();
    }

    @Test
    void leavesCrashesToTheFaulthandler() throws Exception {
        ChildProcess python = python("segv", Map.of());

        assertThat(python.exit()).as(python.stderr()).isGreaterThan(KILLED);
        assertThat(python.stderr()).contains("Fatal Python error: Segmentation fault", "in segv");
    }

    @Test
    @Tag("long")
    void aCrashEndsAlsoWhereTwoHandlersAreInstalledLate() throws Exception {
        ChildProcess python = python("segv_of_two_handlers", Map.of());

        assertThat(python.exit()).as(python.stderr()).isGreaterThan(KILLED);
        assertThat(python.stderr().split("Fatal Python error: Segmentation fault"))
                .hasSizeBetween(2, 5);
    }

    @Test
    @Tag("long")
    void saysWhatAForkedChildDidWrong() throws Exception {
        assertThat(python("fork", Map.of()).stderr()).contains("listen in a process forked after Trigon started");
    }

    @Test
    void remembersThatThePluginCouldNotBeMade() throws Exception {
        ChildProcess python = python("failed_init", Map.of("LOOPBACK_FAULT", "create"));

        assertThat(python.exit()).as(python.stderr()).isZero();
        assertThat(python.stderr()).containsOnlyOnce("init failed unexpectedly");
        assertThat(python.stderr().lines().filter(line -> line.contains("the start in Java failed")))
                .hasSize(3);
        assertThat(python.stderr().lines().filter(line -> line.contains("listen without a successful init")))
                .hasSize(3);
    }

    @Test
    void refusesToStartBesideAnotherJvm() throws Exception {
        Path other = Files.copy(
                Path.of(System.getProperty("java.home"), "lib/server/libjvm.so"), scratch.resolve("libjvm.so"));
        ChildProcess python = python("foreign_jvm", Map.of("OTHER_LIBJVM", other.toString()));

        assertThat(python.exit()).as(python.stderr()).isZero();
        assertThat(python.stderr()).contains("another JVM, " + other);
    }

    private ChildProcess python(String name, Map<String, String> more) throws Exception {
        assumeThat(hasPython()).as("python3 is installed").isTrue();
        Map<String, String> environment = new HashMap<>(more);
        environment.put("PYTHONDONTWRITEBYTECODE", "1");
        return ChildProcess.run(
                scratch,
                environment,
                List.of("python3", "src/test/python/guest.py", ChildProcess.PLUGIN.toString(), name));
    }

    private boolean hasPython() throws InterruptedException {
        try {
            return ChildProcess.run(scratch, Map.of(), List.of("python3", "-c", "import ctypes"))
                            .exit()
                    == 0;
        } catch (IOException notFound) {
            return false;
        }
    }
}
