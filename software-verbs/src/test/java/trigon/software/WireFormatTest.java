package trigon.software;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import trigon.testsupport.NativeBuffer;
import trigon.verbs.Gid;
import trigon.verbs.Memory;

class WireFormatTest {

    private static final Gid GID = Gid.of(Loopback.address("127.0.12.1"));

    @Test
    void readsThePreambleThatItWrites() {
        try (NativeBuffer buffer = new NativeBuffer(WireFormat.PREAMBLE_BYTES)) {
            WireFormat.putPreamble(buffer.address(), 0x123456, 0x654321, 0xABCDEF, GID, 3);

            assertThat(WireFormat.preamble(buffer.address()))
                    .isEqualTo(new Preamble.Hello(0x123456, 0x654321, 0xABCDEF, GID, 3));
            assertThat(new String(buffer.bytes(0, 8), StandardCharsets.US_ASCII))
                    .isEqualTo("TRIGONSV");
        }
    }

    @Test
    void rejectsOtherProtocolsAndVersions() {
        try (NativeBuffer buffer = new NativeBuffer(WireFormat.PREAMBLE_BYTES)) {
            WireFormat.putPreamble(buffer.address(), 1, 2, 3, GID, 0);
            Memory.putInt(buffer.at(8), 99);
            assertThat(WireFormat.preamble(buffer.address())).asString().contains("version 99");

            Memory.putByte(buffer.address(), (byte) 'G');
            assertThat(WireFormat.preamble(buffer.address())).isInstanceOf(Preamble.Malformed.class);
        }
    }

    @Test
    void readsTheRequestsAndResponsesThatItWrites() {
        try (NativeBuffer buffer = new NativeBuffer(64)) {
            long at = buffer.address();
            WireFormat.putRequest(at, WireFormat.FETCH_AND_ADD, 0xFFFFFF, 8, -16, -2, Long.MIN_VALUE);
            assertThat(WireFormat.requestOpcode(at)).isEqualTo(WireFormat.FETCH_AND_ADD);
            assertThat(WireFormat.requestPsn(at)).isEqualTo(0xFFFFFF);
            assertThat(WireFormat.requestLength(at)).isEqualTo(8);
            assertThat(WireFormat.requestAddress(at)).isEqualTo(-16);
            assertThat(WireFormat.requestKey(at)).isEqualTo(-2);
            assertThat(WireFormat.requestOperand(at)).isEqualTo(Long.MIN_VALUE);

            WireFormat.putResponse(at, WireFormat.NAK, WireFormat.REMOTE_ACCESS, 0xABCDEF, Long.MAX_VALUE);
            assertThat(WireFormat.responseKind(at)).isEqualTo(WireFormat.NAK);
            assertThat(WireFormat.responseDetail(at)).isEqualTo(WireFormat.REMOTE_ACCESS);
            assertThat(WireFormat.responsePsn(at)).isEqualTo(0xABCDEF);
            assertThat(WireFormat.responseValue(at)).isEqualTo(Long.MAX_VALUE);
        }
    }
}
