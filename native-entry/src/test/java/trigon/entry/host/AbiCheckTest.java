package trigon.entry.host;

import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import trigon.entry.net.NetFacts;

class AbiCheckTest {

    @Test
    void acceptsWhatItExpects() {
        assertThatNoException().isThrownBy(() -> AbiCheck.check(NetFacts.expected(), NetFacts.expected()));
    }

    @Test
    void namesBothNumbersOfADifference() {
        Map<String, Long> facts = new HashMap<>(NetFacts.expected());
        facts.put("nccl_net_properties_v12.railId", 120L);

        assertThatThrownBy(() -> AbiCheck.check(NetFacts.expected(), facts))
                .isInstanceOf(InstallationException.class)
                .hasMessageContaining("nccl_net_properties_v12.railId is 124 in Java and 120 in C");
    }

    @Test
    void missesWhatCDoesNotSay() {
        Map<String, Long> facts = new HashMap<>(NetFacts.expected());
        facts.remove("handle");

        assertThatThrownBy(() -> AbiCheck.check(NetFacts.expected(), facts))
                .hasMessageContaining("handle is 128 in Java and unknown in C");
    }
}
