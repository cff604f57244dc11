package trigon.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import trigon.routing.LocalLink;
import trigon.testsupport.Await;
import trigon.tools.console.CommandFailure;

/** With programs that say what perftest's say. */
@Timeout(180)
@Isolated("a program that another thread starts meanwhile holds the script open: \"text file busy\"")
class PerftestTest {

    private static final String LATENCY = """
            echo "$0 $@" >>%s
            echo ' #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]'
            echo ' 65536   20             3.10           9.80         3.25              3.40'
            """;

    private static final String BANDWIDTH = """
            echo "$0 $@" >>%s
            echo ' #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]'
            echo ' 65536      20             2100.00            2000.00              0.032'
            """;

    private static final BenchStep STEP = new BenchStep(BenchStep.Kind.POINT_TO_POINT, List.of(0, 1), 65536);
    private static final LocalLink LINK = Links.rdma("rxe_ab");

    @TempDir
    Path folder;

    private final StepPrograms programs = new StepPrograms();
    private Path calls;

    @BeforeEach
    void nameTheCalls() {
        calls = folder.resolve("calls");
    }

    private void program(String name, String script) throws IOException {
        Path file = folder.resolve(name);
        Files.writeString(file, "#!/bin/sh\n" + script.formatted(calls));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Perftest perftest(int timeoutSeconds) {
        return new Perftest(Map.of("PATH", folder + ":/usr/bin:/bin"), folder, timeoutSeconds, programs);
    }

    @Test
    void bothProgramsRunOverTheDeviceAndTheirFiguresAreRead() throws Exception {
        program("ib_write_lat", LATENCY);
        program("ib_write_bw", BANDWIDTH);

        Perftest.Figures figures = perftest(60).measure(LINK, STEP, Optional.of("10.0.0.1"), 7010);

        assertThat(figures.latencyMicros().orElseThrow()).isEqualTo(3.25);
        assertThat(figures.gigabytesPerSecond().orElseThrow()).isCloseTo(2.097, within(0.001));
        assertThat(Files.readAllLines(calls))
                .satisfiesExactly(
                        latency -> assertThat(latency)
                                .endsWith("ib_write_lat -d rxe_ab -i 1 -x 3 -s 65536 -n 100 -F -p 7010 10.0.0.1"),
                        bandwidth -> assertThat(bandwidth).endsWith("-p 7011 10.0.0.1"));
    }

    @Test
    void whoComesTooEarlyTriesAgain() throws Exception {
        program("ib_write_lat", "[ -e %1$s ] || { touch %1$s; echo 'Could not connect'; exit 1; }\n");
        program("ib_write_bw", BANDWIDTH);

        Perftest.Figures figures = perftest(60).measure(LINK, STEP, Optional.of("10.0.0.1"), 7010);

        assertThat(figures.latencyMicros()).as("it said nothing").isEmpty();
        assertThat(figures.gigabytesPerSecond()).isPresent();
    }

    @Test
    void whatFailsIsNamedWithItsLastWords() throws Exception {
        program("ib_write_lat", "echo 'Unable to find the Infiniband/RoCE device'; exit 1\n");
        program("ib_write_bw", BANDWIDTH);

        assertThatThrownBy(() -> perftest(1).measure(LINK, STEP, Optional.empty(), 7010))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("ib_write_lat -d rxe_ab")
                .hasMessageContaining("Unable to find");
    }

    @Test
    void aProgramThatWaitsIsEndedByAnotherThread() throws Exception {
        program("ib_write_lat", "echo waiting >%s; exec sleep 300\n");
        program("ib_write_bw", BANDWIDTH);
        Perftest perftest = perftest(120);
        Thread stopper = Thread.ofVirtual().start(() -> {
            Await.until("the program has been started", () -> Files.exists(calls));
            programs.stop();
        });

        assertThatThrownBy(() -> perftest.measure(LINK, STEP, Optional.of("10.0.0.1"), 7010))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("ib_write_lat");
        stopper.join();
    }

    @Test
    void programsThatAreNotThereAreAnErrorBeforeAnythingRuns() {
        assertThatThrownBy(() -> new Perftest(Map.of("PATH", folder.toString()), folder, 1, programs))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("ib_write_lat")
                .hasMessageContaining("install the package perftest");
    }
}
