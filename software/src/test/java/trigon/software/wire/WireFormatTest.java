package trigon.software.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import trigon.testsupport.NativeBuffer;

class WireFormatTest {

    @Test
    void readsTheRequestsAndResponsesThatItWrites() {
        try (NativeBuffer buffer = new NativeBuffer(64)) {
            long at = buffer.address();
            WireFormat.putRequest(at, WireFormat.WRITE_WITH_IMMEDIATE, 0xFFFFFF, 8, -16, -2, Long.MIN_VALUE);
            assertThat(WireFormat.requestOpcode(at)).isEqualTo(WireFormat.WRITE_WITH_IMMEDIATE);
            assertThat(WireFormat.requestPsn(at)).isEqualTo(0xFFFFFF);
            assertThat(WireFormat.requestLength(at)).isEqualTo(8);
            assertThat(WireFormat.requestAddress(at)).isEqualTo(-16);
            assertThat(WireFormat.requestKey(at)).isEqualTo(-2);
            assertThat(WireFormat.requestOperand(at)).isEqualTo(Long.MIN_VALUE);

            WireFormat.putResponse(at, WireFormat.NAK, WireFormat.REMOTE_ACCESS, 0xABCDEF);
            assertThat(WireFormat.responseKind(at)).isEqualTo(WireFormat.NAK);
            assertThat(WireFormat.responseDetail(at)).isEqualTo(WireFormat.REMOTE_ACCESS);
            assertThat(WireFormat.responsePsn(at)).isEqualTo(0xABCDEF);
        }
    }

    @Test
    void checksTakeNothingThatASendSays() {
        try (NativeBuffer buffer = new NativeBuffer(WireFormat.REQUEST_BYTES)) {
            long at = buffer.address();
            int opcode = WireFormat.SEND_WITH_IMMEDIATE | WireFormat.PATIENT | WireFormat.WITH_TAIL;
            WireFormat.putRequest(at, opcode, 0xFFFFFF, 4096, 0, 0, -7);
            WireFormat.addToOpcode(at, WireFormat.CHECKED | WireFormat.CHECKED_PAYLOAD);
            WireFormat.putPayloadCheck(at, 0x12345678);
            WireFormat.putHeaderCheck(at, 0x9ABCDEF0);

            assertThat(WireFormat.requestOpcode(at))
                    .isEqualTo(opcode | WireFormat.CHECKED | WireFormat.CHECKED_PAYLOAD);
            assertThat(WireFormat.plainOpcode(WireFormat.requestOpcode(at))).isEqualTo(WireFormat.SEND_WITH_IMMEDIATE);
            assertThat(WireFormat.requestPsn(at)).isEqualTo(0xFFFFFF);
            assertThat(WireFormat.requestLength(at)).isEqualTo(4096);
            assertThat((int) WireFormat.requestOperand(at)).isEqualTo(-7);
            assertThat(WireFormat.payloadCheck(at)).isEqualTo(0x12345678);
            assertThat(WireFormat.headerCheck(at)).isEqualTo(0x9ABCDEF0);
        }
    }
}
