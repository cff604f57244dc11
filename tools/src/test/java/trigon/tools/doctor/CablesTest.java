package trigon.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import trigon.tools.plan.Cabling;
import trigon.tools.probe.Observations;
import trigon.tools.probe.Observations.Heard;

class CablesTest {

    /** All ends of a wire hear each other, but for those of the same node. */
    private static Observations wires(List<List<String>> wires) {
        List<Heard> heard = new ArrayList<>();
        for (List<String> ends : wires) {
            for (String one : ends) {
                for (String other : ends) {
                    String[] by = one.split(":", -1);
                    String[] from = other.split(":", -1);
                    if (!by[0].equals(from[0])) {
                        heard.add(new Heard(by[0], by[1], from[0], from[1]));
                    }
                }
            }
        }
        return new Observations(Map.of(), Map.of(), List.of(), heard, List.of(), false);
    }

    @Test
    void cablesAreListedAsPlanReadsThemAndSwitchesAreNot() {
        String list = Cables.listed(wires(List.of(
                List.of("a:eth1", "b:eth1"), List.of("b:eth2", "c:eth2"), List.of("a:mgmt", "b:mgmt", "c:mgmt"))));

        assertThat(Cabling.read("cables.yaml", list, false).cables())
                .containsExactly(
                        new Cabling.Cable("a", "eth1", "b", "eth1"), new Cabling.Cable("b", "eth2", "c", "eth2"));
    }

    @Test
    void theFunctionsOfTwoPortsArePaired() {
        String list = Cables.listed(
                wires(List.of(List.of("a:enp1s0f0np0", "a:enP2p1s0f0np0", "b:enp1s0f1np1", "b:enP2p1s0f1np1"))));

        assertThat(Cabling.read("cables.yaml", list, true).cables())
                .containsExactlyInAnyOrder(
                        new Cabling.Cable("a", "enp1s0f0np0", "b", "enp1s0f1np1"),
                        new Cabling.Cable("a", "enP2p1s0f0np0", "b", "enP2p1s0f1np1"));
    }

    /** Two nodes with two ports each: were these cables, each end would hear one. */
    @Test
    void portsOfASwitchAreNoCables() {
        Observations seen =
                wires(List.of(List.of("a:eth1", "a:eth2", "b:eth1", "b:eth2"), List.of("a:eth3", "b:eth3")));

        assertThat(Cables.of(seen)).containsExactly(new Cables.Cable("a eth3", "b eth3"));
        assertThat(Cables.switches(seen)).containsExactly(List.of("a eth1", "a eth2", "b eth1", "b eth2"));
    }
}
