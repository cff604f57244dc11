package trigon.cluster.facts;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Nic;
import trigon.cluster.machine.RdmaPort;

class NodeFactsTest {

    private static NodeFacts facts(int errors, int resent) {
        return JsonObject.parse("""
            {"host": "a", "interfaces": [{"name": "eth1", "counters": {"rx_errors": %d, "collisions": 2}}],
             "rdmaPorts": [{"device": "mlx5_0", "port": 1, "counters": {"out_of_sequence": %d}}]}
            """.formatted(errors, resent)).as(NodeFacts.class);
    }

    @Test
    void countersOfLaterFactsAreBesideTheFirst() {
        NodeFacts both = facts(5, 7).withCountersOf(facts(8, 9));

        Nic nic = both.interfaces().getFirst();
        assertThat(Counters.moved(
                        nic.counters(), both.interfacesAfter().getFirst().counters()))
                .isEqualTo(Map.of("rx_errors", 3L));
        RdmaPort port = both.rdmaPorts().getFirst();
        assertThat(Counters.moved(
                        port.counters(), both.rdmaPortsAfter().getFirst().counters()))
                .isEqualTo(Map.of("out_of_sequence", 2L));
    }

    @Test
    void whatIsMissingIsEmpty() {
        assertThat(NodeFacts.NONE.interfaces()).isEmpty();
        assertThat(NodeFacts.NONE.local().noRdma()).isEmpty();
        assertThat(NodeFacts.NONE.system().isGpuMemoryOff()).isTrue();
        assertThat(Nic.NONE.hasCarrier()).isFalse();
        assertThat(Nic.NONE.lacksCarrier()).as("it may be down").isFalse();
    }
}
