package trigon.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.tools.Run;
import trigon.tools.demo.DemoCluster.Links;
import trigon.tools.demo.DemoCluster.Shape;

class DemoCommandTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--shape cube|must be one of triangle, ring4, line4, star4",
                "--links carrier-pigeon|must be one of auto, software, rdma, simulated",
                "--test pipe|must be one of ring, all-to-all",
                "--shape line4 --cut a-c|line4 has the cables ab bc cd",
                "--order aab|must name each node of abc once",
                "--iterations 0|must be at least 1",
                "--handshake-timeout soon|must be a number with ms, s or m",
                "--cut --away 100|must be 1 to 99",
                "--cut --order abc|does not go with --order",
                "--away 1|goes with --cut without a cable"
            })
    void aWrongOptionIsNamedWithWhatItMayBe(String options, String message) {
        Run run = Run.of(("demo " + options).split(" ", -1));

        assertThat(run.status()).isEqualTo(2);
        assertThat(run.err()).contains(message, "trigon help demo");
    }

    @Test
    void takesADistribution() {
        Run run = Run.of("demo");

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).contains("demo needs a distribution");
    }

    @Test
    void eachCableIsASubnet() {
        assertThat(DemoCluster.of(Shape.RING4, Optional.empty(), Links.SOFTWARE).entries())
                .containsExactly(
                        "  a: {nics: [{address: 127.0.12.1/24}, {address: 127.0.14.1/24}]}",
                        "  b: {nics: [{address: 127.0.12.2/24}, {address: 127.0.23.2/24}]}",
                        "  c: {nics: [{address: 127.0.23.3/24}, {address: 127.0.34.3/24}]}",
                        "  d: {nics: [{address: 127.0.34.4/24}, {address: 127.0.14.4/24}]}");
    }

    @Test
    void aCableMayBeLeftOut() {
        DemoCluster triangle = DemoCluster.of(Shape.TRIANGLE, Optional.of("ab"), Links.SIMULATED);

        assertThat(triangle.entries())
                .containsExactly(
                        "  a: {nics: [{device: sim_ac, address: 127.0.13.1/24}]}",
                        "  b: {nics: [{device: sim_bc, address: 127.0.23.2/24}]}",
                        "  c: {nics: [{device: sim_ca, address: 127.0.13.3/24},"
                                + " {device: sim_cb, address: 127.0.23.3/24}]}");
        assertThat(triangle.devices('c')).isEqualTo("sim_ca=127.0.13.3/24,sim_cb=127.0.23.3/24");
    }

    @Test
    void eachTwoNodesOfTheCutHaveTwoCablesInSubnetsOfTheirOwn() {
        assertThat(CutDemo.cluster(true).entries())
                .hasSize(3)
                .startsWith("  a: {nics: [{address: 10.1.12.1/24}, {address: 10.1.13.1/24}, {address: 10.2.12.1/24},"
                        + " {address: 10.2.13.1/24}]}");
    }
}
