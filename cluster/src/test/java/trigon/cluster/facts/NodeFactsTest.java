package trigon.cluster.facts;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Nic;

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

        assertThat(both.interfaces().getFirst().counters()).containsEntry("rx_errors", 5L);
        assertThat(both.interfacesAfter().getFirst().counters()).containsEntry("rx_errors", 8L);
        assertThat(both.rdmaPortsAfter().getFirst().counters()).isEqualTo(Map.of("out_of_sequence", 9L));
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
