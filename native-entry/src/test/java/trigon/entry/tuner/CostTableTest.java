package trigon.entry.tuner;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.nccl.TunerChoice;

class CostTableTest {

    private static final int ALGORITHMS = 7;
    private static final int PROTOCOLS = 3;
    private static final float IGNORE = -1;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment table = arena.allocate(ValueLayout.JAVA_FLOAT, ALGORITHMS * PROTOCOLS);

    CostTableTest() {
        for (int i = 0; i < ALGORITHMS * PROTOCOLS; i++) {
            table.setAtIndex(ValueLayout.JAVA_FLOAT, i, 10 + i);
        }
    }

    @AfterEach
    void free() {
        arena.close();
    }

    private float at(int algorithm, int protocol) {
        return table.getAtIndex(ValueLayout.JAVA_FLOAT, algorithm * PROTOCOLS + protocol);
    }

    @Test
    void whatIsChosenCostsNothing() {
        assertThat(CostTable.choose(table.address(), ALGORITHMS, PROTOCOLS, 6, 2))
                .isTrue();
        assertThat(at(6, 2)).isZero();
        assertThat(at(6, 1)).isEqualTo(10 + 6 * PROTOCOLS + 1);
    }

    @Test
    void whatNcclCannotUseStaysAsItIs() {
        table.setAtIndex(ValueLayout.JAVA_FLOAT, 4, IGNORE);
        assertThat(CostTable.choose(table.address(), ALGORITHMS, PROTOCOLS, 1, 1))
                .isFalse();
        CostTable.avoid(table.address(), ALGORITHMS, PROTOCOLS, 1 << 1);
        assertThat(at(1, 1)).isEqualTo(IGNORE);
        assertThat(at(1, 0)).isEqualTo(CostTable.AVOIDED);
        assertThat(at(0, 2)).isEqualTo(12);
    }

    /** NCCL before 2.23 knows six algorithms. */
    @Test
    void rowsThatAreNotThereAreNotWritten() {
        assertThat(CostTable.choose(table.address(), ALGORITHMS - 1, PROTOCOLS, 6, 0))
                .isFalse();
        assertThat(CostTable.choose(table.address(), ALGORITHMS, PROTOCOLS, 1, -1))
                .isFalse();
        CostTable.avoid(table.address(), ALGORITHMS - 1, PROTOCOLS, 1 << 6);
        assertThat(at(6, 0)).isEqualTo(10 + 6 * PROTOCOLS);
    }

    @Test
    void aChoiceIsWrittenWithItsChannels() {
        MemorySegment channels = arena.allocate(ValueLayout.JAVA_INT);
        long choice = TunerChoice.of(1, 2, 5, 1);
        assertThat(CostTable.apply(choice, table.address(), ALGORITHMS, PROTOCOLS, channels.address()))
                .isTrue();
        assertThat(at(1, 2)).isZero();
        assertThat(at(0, 0)).isEqualTo(CostTable.AVOIDED);
        assertThat(channels.get(ValueLayout.JAVA_INT, 0)).isEqualTo(5);
    }

    @Test
    void channelsAloneLeaveTheTableAsItIs() {
        MemorySegment channels = arena.allocate(ValueLayout.JAVA_INT);
        long choice = TunerChoice.of(TunerChoice.LEAVE_TO_NCCL, TunerChoice.LEAVE_TO_NCCL, 3, 0);
        assertThat(CostTable.apply(choice, table.address(), ALGORITHMS, PROTOCOLS, channels.address()))
                .isTrue();
        assertThat(at(0, 0)).isEqualTo(10);
        assertThat(channels.get(ValueLayout.JAVA_INT, 0)).isEqualTo(3);
        long impossible = TunerChoice.of(7, 0, 0, 0);
        assertThat(CostTable.apply(impossible, table.address(), ALGORITHMS, PROTOCOLS, channels.address()))
                .isFalse();
    }
}
