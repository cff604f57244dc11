package trigon.software.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import trigon.testsupport.NativeBuffer;

class WireFormatTest {

    @Test
    void readsTheRequestsAndResponsesThatItWrites() {
        try (NativeBuffer buffer = new NativeBuffer(64)) {
            long at = buffer.address();
            Messages.putRequest(at, Messages.WRITE_WITH_IMMEDIATE, 0xFFFFFF, 8, -16, -2, Long.MIN_VALUE);
            assertThat(Messages.requestOpcode(at)).isEqualTo(Messages.WRITE_WITH_IMMEDIATE);
            assertThat(Messages.requestPsn(at)).isEqualTo(0xFFFFFF);
            assertThat(Messages.requestLength(at)).isEqualTo(8);
            assertThat(Messages.requestAddress(at)).isEqualTo(-16);
            assertThat(Messages.requestKey(at)).isEqualTo(-2);
            assertThat(Messages.requestOperand(at)).isEqualTo(Long.MIN_VALUE);

            Messages.putResponse(at, Messages.NAK, Messages.REMOTE_ACCESS, 0xABCDEF);
            assertThat(Messages.responseKind(at)).isEqualTo(Messages.NAK);
            assertThat(Messages.responseDetail(at)).isEqualTo(Messages.REMOTE_ACCESS);
            assertThat(Messages.responsePsn(at)).isEqualTo(0xABCDEF);
        }
    }

    @Test
    void checksTakeNothingThatASendSays() {
        try (NativeBuffer buffer = new NativeBuffer(Messages.REQUEST_BYTES)) {
            long at = buffer.address();
            int opcode = Messages.SEND_WITH_IMMEDIATE | Messages.PATIENT | Messages.WITH_TAIL;
            Messages.putRequest(at, opcode, 0xFFFFFF, 4096, 0, 0, -7);
            Messages.addToOpcode(at, Messages.CHECKED | Messages.CHECKED_PAYLOAD);
            Messages.putPayloadCheck(at, 0x12345678);
            Messages.putHeaderCheck(at, 0x9ABCDEF0);

            assertThat(Messages.requestOpcode(at)).isEqualTo(opcode | Messages.CHECKED | Messages.CHECKED_PAYLOAD);
            assertThat(Messages.plainOpcode(Messages.requestOpcode(at))).isEqualTo(Messages.SEND_WITH_IMMEDIATE);
            assertThat(Messages.requestPsn(at)).isEqualTo(0xFFFFFF);
            assertThat(Messages.requestLength(at)).isEqualTo(4096);
            assertThat((int) Messages.requestOperand(at)).isEqualTo(-7);
            assertThat(Messages.payloadCheck(at)).isEqualTo(0x12345678);
            assertThat(Messages.headerCheck(at)).isEqualTo(0x9ABCDEF0);
        }
    }
}
