package trigon.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.Observations.Heard;
import trigon.tools.plan.Cabling;

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
        Observations heard =
                wires(List.of(List.of("a:enp1s0f0np0", "a:enP2p1s0f0np0", "b:enp1s0f1np1", "b:enP2p1s0f1np1")));
        Map<String, NodeFacts> facts = Map.of(
                "a", port("enp1s0f0np0", "enP2p1s0f0np0"),
                "b", port("enp1s0f1np1", "enP2p1s0f1np1"));
        String list = Cables.listed(new Observations(facts, Map.of(), List.of(), heard.heard(), List.of(), false));

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

    /** A node whose interfaces are functions of one port, as the kernel says. */
    private static NodeFacts port(String... names) {
        List<Object> nics = new ArrayList<>();
        for (String name : names) {
            nics.add(Json.object("name", name, "cable", "port 0", "addresses", List.of()));
        }
        return JsonObject.parse(Json.text(Json.object("interfaces", nics))).as(NodeFacts.class);
    }

    private static NodeFacts node(String machine, String... nicsAndAddresses) {
        List<Object> nics = new ArrayList<>();
        for (String each : nicsAndAddresses) {
            List<String> words = List.of(each.split(" ", -1));
            nics.add(Json.object("name", words.getFirst(), "addresses", words.subList(1, words.size())));
        }
        return JsonObject.parse(Json.text(Json.object(
                        "machine",
                        machine,
                        "interfaces",
                        nics,
                        "defaultRoutes",
                        List.of("eth0"),
                        "loginAddress",
                        "10.3.0.1")))
                .as(NodeFacts.class);
    }

    @Test
    void whatMachinesSayOfThemselvesIsInTheList() {
        Observations heard =
                wires(List.of(List.of("a:eth0", "b:eth0"), List.of("a:eth1", "b:eth1"), List.of("a:eth3", "b:eth3")));
        Observations seen = new Observations(
                Map.of(
                        "a",
                                node(
                                        "NVIDIA_DGX_Spark",
                                        "eth0 10.0.0.1/24",
                                        "eth1 10.1.0.1/24 fe80::1/64",
                                        "eth3 10.3.0.1/24"),
                        "b", node("X570", "eth0 10.0.0.2/24", "eth1", "docker0 172.17.0.1/16")),
                Map.of(),
                List.of(),
                heard.heard(),
                List.of(),
                false);

        assertThat(Cables.listed(seen).lines())
                .as("without what logins and the default route need")
                .containsExactly(
                        "# As trigon doctor has found them, for trigon plan",
                        "machines: {a: dgx-spark}",
                        "cables:",
                        "  - a:eth1=10.1.0.1/24 b:eth1",
                        "used:",
                        "  - 10.0.0.1/24",
                        "  - 10.0.0.2/24",
                        "  - 10.3.0.1/24",
                        "  - 172.17.0.1/16");
    }
}
