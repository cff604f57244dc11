package trigon.cluster.cabling;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Nic;

class TwinsTest {

    private static Nic nic(String json) {
        return JsonObject.parse(json).as(Nic.class);
    }

    @Test
    void theKernelSaysWhichFunctionsShareAPort() {
        assertThat(Twins.are(
                        nic("{\"name\": \"eth1\", \"cable\": \"5ea7 p0\"}"),
                        nic("{\"name\": \"eth2\", \"cable\": \"5ea7 p0\"}")))
                .isTrue();
        assertThat(Twins.are(
                        nic("{\"name\": \"eth1\", \"cable\": \"5ea7 p0\"}"),
                        nic("{\"name\": \"eth2\", \"cable\": \"5ea7 p1\"}")))
                .isFalse();
        assertThat(Twins.are(nic("{\"name\": \"enp1s0f0np0\"}"), nic("{\"name\": \"enP2p1s0f0np0\"}")))
                .as("names say nothing")
                .isFalse();
    }
}
