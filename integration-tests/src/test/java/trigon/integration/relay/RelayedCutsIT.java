package trigon.integration.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.ProjectFiles;
import trigon.integration.testsupport.SimulatedDevice;
import trigon.testsupport.Samples;

/**
 * Any cable is cut under a running all-reduce, where no second one leads to the same node: the connections go on
 * through relays, and return. {@code -Dtrigon.cuts=} takes a number of cuts; with more than one the ring of four
 * follows.
 */
@Timeout(3600)
@Tag("long")
class RelayedCutsIT {

    private static final int CUTS = Integer.getInteger("trigon.cuts", 1);
    private static final long SEED = Long.getLong("trigon.seed", 20261125);

    static List<Arguments> shapes() {
        List<String> shapes = CUTS > 1 ? List.of("triangle", "ring4") : List.of("triangle");
        return Samples.of(shapes.stream()
                .flatMap(shape -> Stream.of(Arguments.of(shape, "tcp"), Arguments.of(shape, "simulated")))
                .toList());
    }

    @ParameterizedTest
    @MethodSource("shapes")
    void connectionsGoOnThroughRelaysAndReturn(String shape, String links) throws Exception {
        CableNamespaces.open().close(); // or the test is skipped
        SimulatedDevice.assumeBuilt();
        Path script = ProjectFiles.PROJECT.resolve("integration-tests/cuts/cuts.py");
        String home = HostProgram.distribution().toString();
        Process cuts = new ProcessBuilder(List.of(
                        script.toString(),
                        home,
                        "--shape",
                        shape,
                        "--links",
                        links,
                        "--return",
                        "--cuts",
                        Integer.toString(CUTS),
                        "--seed",
                        Long.toString(SEED)))
                .redirectErrorStream(true)
                .start();
        String output = new String(cuts.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(cuts.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(cuts.exitValue()).as(output).isZero();
        assertThat(output)
                .contains("%d cuts of a %s survived, seed %d".formatted(CUTS, shape, SEED))
                .containsPattern("[1-9][0-9]* of them to another cable, by relays")
                .containsPattern("[1-9][0-9]* returns to the better path");
    }
}
