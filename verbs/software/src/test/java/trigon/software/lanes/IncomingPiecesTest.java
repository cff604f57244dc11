package trigon.software.lanes;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import trigon.software.queue.ReceiveQueue;
import trigon.software.wire.DeviceLimits;
import trigon.software.wire.WireFormat;
import trigon.verbs.WorkCompletionStatus;

class IncomingPiecesTest {

    private static final int SLOTS = 4;
    private static final int OPCODE = WireFormat.SEND;
    private static final int LONGEST = DeviceLimits.MAX_MESSAGE_BYTES;

    private final ReceiveQueue receives = new ReceiveQueue(SLOTS);
    private final IncomingPieces pieces = new IncomingPieces(receives);

    private void post(int count) {
        for (int i = 0; i < count; i++) {
            assertThat(receives.offer(i, 0x1000, LONGEST, 1)).isZero();
        }
    }

    @Test
    void aReceiveIsFoundByItsNumberSinceTheReset() {
        post(2);
        receives.remove();
        pieces.reset();

        assertThat(pieces.find(0)).isEqualTo(1);
        assertThat(pieces.find(1)).isEqualTo(IncomingPieces.NOT_POSTED);
        assertThat(pieces.find(Integer.MAX_VALUE)).isEqualTo(IncomingPieces.NOT_POSTED);
        assertThat(pieces.find(-1)).isEqualTo(IncomingPieces.TAKEN);
        post(1);
        assertThat(pieces.find(1)).isEqualTo(2);
        receives.remove();
        assertThat(pieces.find(0)).isEqualTo(IncomingPieces.TAKEN);
    }

    @Test
    void aMessageIsDoneWithItsLastByte() {
        post(1);
        pieces.reset();

        assertThat(pieces.add(0, OPCODE, 7, 9, LONGEST - 1, LONGEST)).isFalse();
        assertThat(pieces.isDone(0)).isFalse();
        assertThat(pieces.add(0, OPCODE, 7, 9, 1, LONGEST)).isTrue();
        assertThat(pieces.isDone(0)).isTrue();
        assertThat(pieces.isRefused(0)).isFalse();
        assertThat(pieces.length(0)).isEqualTo(LONGEST);
        pieces.clear(0);
        assertThat(pieces.isDone(0)).isFalse();
    }

    @Test
    void anEmptyMessageIsOnePieceAndNoMore() {
        post(1);
        pieces.reset();

        assertThat(pieces.isDone(0)).isFalse();
        assertThat(pieces.add(0, OPCODE, 7, 9, 0, 0)).isTrue();
        assertThat(pieces.isDone(0)).isTrue();
        assertThat(pieces.isRefused(0)).isFalse();
        assertThat(pieces.length(0)).isZero();
        assertThat(pieces.add(0, OPCODE, 7, 9, 0, 0)).isTrue();
        assertThat(pieces.isRefused(0)).isTrue();
    }

    /** Their sum would not fit an int after a few more. */
    @Test
    void piecesThatOverlapAreNoMessage() {
        post(1);
        pieces.reset();

        assertThat(pieces.add(0, OPCODE, 7, 9, LONGEST - 1, LONGEST)).isFalse();
        for (int i = 0; i < 4; i++) {
            assertThat(pieces.add(0, OPCODE, 7, 9, LONGEST, LONGEST)).isTrue();
            assertThat(pieces.isDone(0)).isTrue();
            assertThat(pieces.isRefused(0)).isTrue();
            assertThat(pieces.status(0)).isEqualTo(WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR.code());
        }
    }
}
