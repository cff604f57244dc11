package trigon.software.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import trigon.software.wire.WireFormat;
import trigon.system.Memory;
import trigon.testsupport.NativeBuffer;

class ChecksumTest {

    private final Checksum checksum = new Checksum();

    @Test
    void anyBitOfAHeaderCounts() {
        try (NativeBuffer buffer = new NativeBuffer(WireFormat.REQUEST_BYTES)) {
            long at = buffer.address();
            WireFormat.putRequest(at, WireFormat.SEND_WITH_IMMEDIATE, 0x123456, 4096, 0, 0, -5);
            WireFormat.addToOpcode(at, WireFormat.CHECKED | WireFormat.CHECKED_PAYLOAD);
            WireFormat.putPayloadCheck(at, 0xCAFE);
            WireFormat.putHeaderCheck(at, checksum.ofHeader(at));
            assertThat(checksum.ofHeader(at)).isEqualTo(WireFormat.headerCheck(at));

            for (int bit = 0; bit < WireFormat.REQUEST_BYTES * Byte.SIZE; bit++) {
                flip(at, bit);
                assertThat(checksum.ofHeader(at)).as("bit %d", bit).isNotEqualTo(WireFormat.headerCheck(at));
                flip(at, bit);
            }
        }
    }

    private static void flip(long at, int bit) {
        long byteAt = at + bit / Byte.SIZE;
        Memory.putByte(byteAt, (byte) (Memory.getByte(byteAt) ^ 1 << bit % Byte.SIZE));
    }

    @Test
    void aPayloadCountsHoweverItIsDivided() {
        byte[] payload = new byte[10_000];
        new Random(1).nextBytes(payload);
        CRC32C expected = new CRC32C();
        expected.update(payload);

        for (int part : new int[] {1, 7, 4096, 10_000}) {
            checksum.begin();
            for (int at = 0; at < payload.length; at += part) {
                checksum.add(ByteBuffer.wrap(payload, at, Math.min(part, payload.length - at)));
            }
            assertThat(checksum.value()).isEqualTo((int) expected.getValue());
        }
    }
}
