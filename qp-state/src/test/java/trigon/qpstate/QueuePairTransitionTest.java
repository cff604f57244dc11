package trigon.qpstate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import trigon.qpstate.QueuePairState.Name;
import trigon.verbs.QueuePairAttribute;

class QueuePairTransitionTest {

    /** The bits as they stand in the kernel's ib_verbs.h; IB_QP_STATE is 1. */
    @Test
    void asksForTheAttributesOfTheManualPage() {
        assertThat(bits(Name.RESET, Name.INIT)).isEqualTo(1 | 1 << 3 | 1 << 4 | 1 << 5);
        assertThat(bits(Name.INIT, Name.READY_TO_RECEIVE))
                .isEqualTo(1 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 15 | 1 << 17 | 1 << 20);
        assertThat(bits(Name.READY_TO_RECEIVE, Name.READY_TO_SEND))
                .isEqualTo(1 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 13 | 1 << 16);
        assertThat(bits(Name.READY_TO_SEND, Name.ERROR)).isEqualTo(1);
        assertThat(bits(Name.ERROR, Name.RESET)).isEqualTo(1);
        assertThat(bits(Name.ERROR, Name.CLOSED)).isZero();
    }

    @Test
    void namesEachPairOnce() {
        Set<Set<Object>> pairs = new HashSet<>();
        assertThat(QueuePairTransition.ALL).allMatch(row -> pairs.add(Set.of(row.from(), "to " + row.to())));
    }

    @Test
    void nothingLeadsOutOfClosed() {
        assertThat(QueuePairTransition.legalFrom(Name.CLOSED)).isEmpty();
    }

    @Test
    void everyOtherStateCanBeResetAndClosed() {
        for (Name from : Name.values()) {
            if (from != Name.CLOSED) {
                assertThat(QueuePairTransition.legalFrom(from)).contains(Name.RESET, Name.CLOSED);
            }
        }
    }

    @Test
    void parametersAreInTheRangesOfTheFields() {
        assertThat(new QueuePairParameters(31, 7, 7, 31, 255, 255)).isNotNull();
        assertThatThrownBy(() -> new QueuePairParameters(0, 7, 7, 31, 1, 1)).hasMessageContaining("timeout 0");
        assertThatThrownBy(() -> new QueuePairParameters(14, 8, 7, 31, 1, 1)).hasMessageContaining("retry count 8");
        assertThatThrownBy(() -> new QueuePairParameters(14, 7, 8, 31, 1, 1)).hasMessageContaining("RNR retry 8");
        assertThatThrownBy(() -> new QueuePairParameters(14, 7, 7, 32, 1, 1)).hasMessageContaining("RNR timer 32");
        assertThatThrownBy(() -> new QueuePairParameters(14, 7, 7, 1, 256, 1)).hasMessageContaining("256");
        assertThatThrownBy(() -> new QueuePairParameters(14, 7, 7, 1, 1, -1)).hasMessageContaining("of the peer -1");
    }

    private static int bits(Name from, Name to) {
        return QueuePairAttribute.bits(
                QueuePairTransition.between(from, to).orElseThrow().attributes());
    }
}
