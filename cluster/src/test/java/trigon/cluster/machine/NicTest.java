package trigon.cluster.machine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import trigon.cluster.json.JsonObject;

class NicTest {

    private static Nic nic(String json) {
        return JsonObject.parse(json).as(Nic.class);
    }

    @Test
    void theKernelSaysWhichFunctionsShareAPort() {
        assertThat(nic("{\"name\": \"eth1\", \"cable\": \"5ea7 p0\"}")
                        .sharesCable(nic("{\"name\": \"eth2\", \"cable\": \"5ea7 p0\"}")))
                .isTrue();
        assertThat(nic("{\"name\": \"eth1\", \"cable\": \"5ea7 p0\"}")
                        .sharesCable(nic("{\"name\": \"eth2\", \"cable\": \"5ea7 p1\"}")))
                .isFalse();
        assertThat(nic("{\"name\": \"enp1s0f0np0\"}").sharesCable(nic("{\"name\": \"enP2p1s0f0np0\"}")))
                .as("names say nothing")
                .isFalse();
    }
}
