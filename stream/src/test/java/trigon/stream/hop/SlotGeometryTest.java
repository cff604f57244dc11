package trigon.stream.hop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlotGeometryTest {

    private static final long MIB = 1 << 20;

    @Test
    void aCircuitTakesNoNodeMoreThanAMebibyte() {
        SlotGeometry forward = SlotGeometry.FORWARD;
        SlotGeometry back = SlotGeometry.BACK;

        assertThat(forward.bytes() + back.bytes()).as("a relay").isLessThanOrEqualTo(MIB);
        assertThat(back.bytes() + (long) forward.slots() * forward.slotBytes())
                .as("the end that sends messages")
                .isLessThanOrEqualTo(MIB);
        assertThat(forward.bytes() + (long) back.slots() * back.slotBytes())
                .as("the end that receives them")
                .isLessThanOrEqualTo(MIB);
    }

    @Test
    void sixtyFourMebibytesCarryTheCircuitsOfARelayOfTwoHundred() {
        SlotMemory memory = new SlotMemory(64 * MIB);
        List<Integer> slots = new ArrayList<>();
        for (int circuit = 0; circuit < 200; circuit++) {
            slots.add(memory.take(SlotGeometry.FORWARD, 2, "one").slotBytes());
            memory.take(SlotGeometry.BACK, 2, "one");
        }

        assertThat(slots).isSortedAccordingTo(Comparator.reverseOrder());
        assertThat(slots.subList(0, 8)).containsOnly(SlotGeometry.FORWARD.slotBytes());
        assertThat(slots.getLast()).isEqualTo(4096);
        assertThatThrownBy(() -> {
                    while (true) {
                        memory.take(SlotGeometry.FORWARD, 2, "one");
                    }
                })
                .hasMessageContaining("circuits.memoryMiB (64)");
    }

    @Test
    void noMemoryTakesNoSlots() {
        assertThatThrownBy(() -> new SlotMemory(0).take(SlotGeometry.BACK, 1, "one"))
                .hasMessageContaining("circuits.memoryMiB (0)");
    }

    @Test
    void whatANeighbourSaysIsBounded() {
        assertThat(new SlotGeometry(64, 64 << 10).bytes()).isLessThan(5 * MIB);
        assertThatThrownBy(() -> new SlotGeometry(65, 4096)).hasMessageContaining("out of bounds");
        assertThatThrownBy(() -> new SlotGeometry(1, (64 << 10) + 1)).hasMessageContaining("out of bounds");
        assertThatThrownBy(() -> new SlotGeometry(0, 4096)).hasMessageContaining("out of bounds");
    }
}
