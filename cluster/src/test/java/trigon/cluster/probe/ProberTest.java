package trigon.cluster.probe;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.cluster.diagnosis.Diagnosis;
import trigon.cluster.diagnosis.Finding;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.cluster.probe.Observations.Probe;
import trigon.system.InterfaceAddress;

/** Links over IPv6 are named as the facts of nodes name them. */
@Timeout(300)
class ProberTest {

    private static LinkResult probe(String from, String to) {
        InetAddress here = InterfaceAddress.parseAddress(from);
        InetAddress there = InterfaceAddress.parseAddress(to);
        return Prober.probe(new Prober.Order(here, there, 1, 1, false, 0, 1500, 1024, false));
    }

    @Test
    void rdmaIsFoundAtAnAddressOfIpv6() {
        LinkResult result = probe("fd00::1", "fd00::2");

        assertThat(result.ends().from()).isEqualTo("fd00::1");
        JsonObject facts = JsonObject.parse(Json.line(Json.object(
                "links", List.of(Json.object("kind", "rdma", "device", "mlx5_0", "address", "fd00::2/64")))));
        assertThat(RdmaTrials.device(facts.as(NodeFacts.class), result.ends().to()))
                .contains("mlx5_0");
    }

    @Test
    void theKernelsSourceIsThisEndOverIpv6Too() {
        // a route to this machine's own address has it as its source, where there is IPv6 at all
        LinkResult result = probe("::1", "::1");

        assertThat(result.ends().source()).isIn("::1", LinkResult.NO_SOURCE);
        if (result.ends().source().equals("::1")) {
            Probe seen = new Probe("a", "b", JsonObject.parse(Json.line(result)).as(LinkResult.class));
            assertThat(Diagnosis.of(new Observations(Map.of(), Map.of(), List.of(), List.of(), List.of(seen), false)))
                    .extracting(Finding::code)
                    .doesNotContain("route-elsewhere");
        }
    }
}
