package trigon.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import trigon.system.Memory;

/** The integrity tests would notice. */
class PlannedMessageTest {

    private static final int LONGEST = 100_000;

    @Test
    void oneWrongBitIsFoundAndNamed() {
        PlannedMessage message = IntStream.range(0, 100)
                .mapToObj(index -> PlannedMessage.of(1, 2, index, LONGEST))
                .filter(candidate -> candidate.size() > 1000)
                .findFirst()
                .orElseThrow();
        try (Arena arena = Arena.ofConfined()) {
            long address = arena.allocate(message.size()).address();
            message.write(address);
            int checksum = message.checksum(address);
            assertThat(message.checksum(address)).isEqualTo(checksum);

            Memory.putByte(address + 777, (byte) (Memory.getByte(address + 777) ^ 4));

            assertThat(message.checksum(address)).isNotEqualTo(checksum);
            assertThat(message.damage(address))
                    .startsWith("1 of " + message.size() + " bytes are wrong, the first at 777");
        }
    }

    @Test
    void anotherMessageOfTheSameBytesIsNotTheSame() {
        PlannedMessage message = new PlannedMessage(0, 5, 9, 0, 0, 0, 0, 0);
        PlannedMessage other = new PlannedMessage(0, 6, 9, 0, 0, 0, 0, 0);
        PlannedMessage ofAnotherStream = new PlannedMessage(1, 5, 9, 0, 0, 0, 0, 0);

        assertThat(message.checksum(0)).isNotEqualTo(other.checksum(0)).isNotEqualTo(ofAnotherStream.checksum(0));
    }

    @Test
    void allKindsOfSizesAndOffsetsAreAmongThem() {
        PlannedMessage[] messages = IntStream.range(0, 10_000)
                .mapToObj(index -> PlannedMessage.of(7, 3, index, LONGEST))
                .toArray(PlannedMessage[]::new);

        assertThat(messages)
                .anyMatch(message -> message.size() == 0)
                .anyMatch(message -> message.size() == 1)
                .anyMatch(message -> message.size() % 2 == 1 && message.size() > 1000)
                .anyMatch(message -> message.size() == LONGEST)
                .anyMatch(message -> message.sendOffset() % 8 == 3)
                .anyMatch(message -> message.slack() == 0)
                .anyMatch(message -> message.slack() > 0)
                .allMatch(message -> message.size() >= 0 && message.size() <= LONGEST);
    }
}
