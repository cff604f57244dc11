package trigon.tools.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.tools.Run;
import trigon.tools.console.CommandFailure;

class PlanTest {

    private static Plan plan(Cabling cabling) {
        return Plan.of(cabling, Subnets.of(cabling, 77, 0), 80);
    }

    @Test
    void aTriangleNeedsNoRelayAndEachCableHasASubnet() {
        Plan plan = plan(Cabling.read("f", "cables:\n  - a:e1 b:e1 # short\n  - \"a:e2 - c:e1\"\n  - b:e2 c:e2\n"));

        assertThat(plan.order()).containsExactly("a", "b", "c");
        assertThat(plan.withoutRelay()).isTrue();
        assertThat(plan.relayedPairs()).isZero();
        assertThat(plan.allReduce()).isEqualTo(10, within(0.01));
        assertThat(plan.allToAll()).isEqualTo(20, within(0.01));
        assertThat(plan.clusterFile()).isEqualTo("""
                version: 1
                nodes:
                  a: {nics: [{device: e1, address: 10.77.0.1/24}, {device: e2, address: 10.77.1.1/24}]}
                  b: {nics: [{device: e1, address: 10.77.0.2/24}, {device: e2, address: 10.77.2.1/24}]}
                  c: {nics: [{device: e1, address: 10.77.1.2/24}, {device: e2, address: 10.77.2.2/24}]}
                """);
        assertThat(plan.commands()).contains("ip addr add 10.77.2.2/24 dev e2 && ip link set e2 up");
        assertThat(plan.netplan(9000)).contains("e1: {addresses: [10.77.0.1/24], mtu: 9000");
    }

    @Test
    void aRingOfScrambledNamesIsPutInOrder() {
        Plan plan = plan(Cabling.read("f", "cables:\n- a c\n- c b\n- b d\n- d a\n"));

        assertThat(plan.withoutRelay()).isTrue();
        assertThat(String.join("", plan.order())).isIn("acbd", "adbc");
        assertThat(plan.relayedPairs()).isEqualTo(2);
    }

    @Test
    void aLineIsHalfOfARingAndOneMoreCableClosesIt() {
        Plan plan = plan(Cabling.shape("line:4"));

        assertThat(plan.withoutRelay()).isFalse();
        assertThat(plan.relayedPairs()).isEqualTo(3);
        assertThat(plan.oneMore()).hasValueSatisfying(more -> {
            assertThat(more.from() + more.to()).isEqualTo("n1n4");
            assertThat(more.allToAll()).isEqualTo(15, within(0.01));
            assertThat(more.allToAll()).isGreaterThan(plan.allToAll());
        });
    }

    @Test
    void nodesThatNothingJoinsAreSaid() {
        Plan plan = plan(Cabling.read("f", "cables:\n- a b\n- c d\n"));

        assertThat(plan.connected()).isFalse();
        assertThat(plan.allReduce()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"ring:2,1", "ring:1024,1024", "star:1024,1023", "line:300,299", "mesh:64,2016"})
    @Timeout(300)
    void largeShapesArePlanned(String shape, int cables) {
        Plan plan = plan(Cabling.shape(shape));

        assertThat(plan.cabling().cables()).hasSize(cables);
        assertThat(plan.connected()).isTrue();
        assertThat(plan.subnets().names()).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "a b",
                "cables:\n- a\n",
                "cables:\n- a a\n",
                "cables:\n- a:x b\n- a:x c\n",
                "cables:\n- a b c\n"
            })
    void wrongFilesAreErrorsThatNameThePlace(String text) {
        assertThatThrownBy(() -> Cabling.read("cables.yaml", text))
                .isInstanceOf(CommandFailure.class)
                .hasMessageMatching("(?s)cables.yaml:\\d+: .*|there is no cable.*");
    }

    @Test
    void writesWhatNodesNeed(@TempDir Path folder) throws Exception {
        Run run = Run.of("plan", "--shape", "ring:4", "--write", folder.toString(), "--prefix", "31");

        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).contains("order of ranks in which a ring needs no relay: n1,n2,n3,n4");
        assertThat(folder.resolve("cluster.yaml"))
                .content()
                .contains("n1: {nics: [{device: link1, address: 10.77.0.0/31}");
        assertThat(Files.readString(folder.resolve("cables.svg")))
                .startsWith("<svg")
                .contains("10.77.0.0/31")
                .endsWith("</svg>\n");
        assertThat(folder.resolve("netplan.yaml")).isNotEmptyFile();
    }

    @Test
    void jsonNamesTheMachine() {
        assertThat(Run.of("plan", "--shape", "ring:3", "--json").out())
                .contains("\"schema\": \"trigon.plan/1\"", "\"host\": \"here\"");
    }

    @Test
    void wrongOptionsAreErrors() {
        assertThat(Run.of("plan").err()).contains("--shape");
        assertThat(Run.of("plan", "--shape", "torus:4").err()).contains("ring, line, star or mesh");
        assertThat(Run.of("plan", "--shape", "mesh:4", "--speed", "0").err()).contains("--speed");
        assertThat(Run.of("plan", "--shape", "mesh:400").err()).contains("do not fit");
        for (String line : List.of(
                "plan",
                "plan --shape torus:4",
                "plan --shape ring",
                "plan --shape ring:4 --speed 0",
                "plan --shape ring:4 --base 256",
                "plan --shape ring:4 --prefix 29")) {
            assertThat(Run.of(line.split(" ", -1)).status()).as(line).isEqualTo(2);
        }
        assertThat(Run.of("plan", "--shape", "mesh:400").status()).isEqualTo(1);
        assertThat(Run.of("plan", "/nonexistent/cables").status()).isEqualTo(1);
    }
}
