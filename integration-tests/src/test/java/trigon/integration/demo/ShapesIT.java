package trigon.integration.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.SimulatedDevice;
import trigon.testsupport.Sampled;
import trigon.testsupport.Samples;

/**
 * Rings, lines and stars of four nodes, all-reduces and all-to-all, by the demo. Of the 24 orders of ranks three
 * differ: a ring has no first rank, and the same neighbours in reverse; messages from each to each know no order.
 * {@code -Dtrigon.shapes=all} runs these three for each shape and test, or else two runs show that they work.
 */
@Timeout(600)
class ShapesIT {

    private static final boolean ALL = "all".equals(System.getProperty("trigon.shapes"));

    static List<String[]> runs() {
        if (!ALL) {
            return Samples.of(
                    List.of(new String[] {"line4", "all-to-all", "acbd"}, new String[] {"star4", "ring", "abcd"}));
        }
        List<String[]> runs = new ArrayList<>();
        for (String shape : List.of("ring4", "line4", "star4")) {
            for (String test : List.of("ring", "all-to-all")) {
                for (String order : List.of("abcd", "abdc", "acbd")) {
                    runs.add(new String[] {shape, test, order});
                }
            }
        }
        return runs;
    }

    @ParameterizedTest
    @MethodSource("runs")
    void everyElementIsRight(String shape, String test, String order) throws Exception {
        String output = demo(0, "--shape", shape, "--test", test, "--order", order);

        assertThat(output).contains("Every element was right on every rank").contains("relayed by");
    }

    /** The demo says which cables there are. */
    @ParameterizedTest
    @Sampled({"line4, a-c", "star4, b-c"})
    void aCableThatIsNotThereCannotBeCut(String shape, String cable) throws Exception {
        assertThat(demo(2, "--shape", shape, "--cut", cable)).contains(shape + " has the cables");
    }

    /** Cables are RDMA links; where nodes have none in common, circuits go over the links' addresses. */
    @ParameterizedTest
    @Tag("long")
    @Sampled({"triangle, via sim_ab", "line4, over RDMA"})
    void simulatedDevicesNeedNoHardware(String shape, String way) throws Exception {
        SimulatedDevice.assumeBuilt();

        assertThat(demo(0, "--shape", shape, "--links", "simulated"))
                .contains("Every element was right on every rank", ": RDMA", way);
    }

    private static String demo(int status, String... options) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(HostProgram.distribution().resolve("bin/trigon").toString());
        command.add("demo");
        command.addAll(List.of(options));
        command.addAll(List.of("--iterations", "2", "--bytes", "262144", "--handshake-timeout", "40s"));
        Process demo = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(demo.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(demo.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(demo.exitValue()).as(output).isEqualTo(status);
        return status == 0 ? CutDemoIT.whole(output) : output;
    }
}
