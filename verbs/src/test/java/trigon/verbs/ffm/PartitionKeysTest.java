package trigon.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class PartitionKeysTest {

    @Test
    void theDefaultPartitionIsTakenWhereverItIs() {
        assertThat(PartitionKeys.indexOfBest(List.of(0xffff))).hasValue(0);
        assertThat(PartitionKeys.indexOfBest(List.of(0x8001, 0, 0x7fff, 0xffff)))
                .hasValue(3);
    }

    @Test
    void otherwiseTheFirstOfAFullMember() {
        assertThat(PartitionKeys.indexOfBest(List.of(0x7fff, 0x0001, 0x8001, 0x8002)))
                .hasValue(2);
    }

    @Test
    void limitedMembersAreRefusedByTheirKeys() {
        assertThat(PartitionKeys.indexOfBest(List.of(0x7fff, 0, 0x0001))).isEmpty();
        assertThat(PartitionKeys.advice(List.of(0x7fff, 0, 0x0001))).contains("(0x7fff, 0x0001)", "partitions.conf");
    }

    @Test
    void noTableAsksForNothing() {
        assertThat(PartitionKeys.indexOfBest(List.of())).hasValue(0);
        assertThat(PartitionKeys.indexOfBest(List.of(0, 0))).hasValue(0);
    }
}
