package trigon.verbs.ffm.struct;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WorkRequestMemoryTest {

    private static final int LINE = 64;

    private final WorkRequestMemory memory = new WorkRequestMemory();

    @AfterEach
    void close() {
        memory.close();
    }

    @Test
    void piecesAreApartAndBeginWithALine() {
        List<MemorySegment> pieces = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            pieces.add(memory.take());
        }
        pieces.sort(Comparator.comparingLong(MemorySegment::address));
        long end = 0;
        for (MemorySegment piece : pieces) {
            assertThat(piece.address() % LINE).isZero();
            assertThat(piece.address()).isGreaterThanOrEqualTo(end);
            end = piece.address() + piece.byteSize();
        }
    }

    @Test
    void aPieceHoldsWhatAQueuePairNeeds() {
        SegmentAllocator piece = SegmentAllocator.slicingAllocator(memory.take());
        long send = SendWorkRequests.allocate(piece);
        var receive = new ReceiveWorkRequest(piece);

        assertThat(piece.allocate(Long.BYTES, Long.BYTES).address()).isGreaterThan(receive.prepare(0, 0, 0, 0));
        assertThat(piece.allocate(Long.BYTES, Long.BYTES).address()).isGreaterThan(send);
    }

    @Test
    void whatWasGivenBackIsTakenAgain() {
        MemorySegment first = memory.take();
        MemorySegment second = memory.take();
        memory.giveBack(first);

        MemorySegment again = memory.take();

        assertThat(again.address()).isEqualTo(first.address()).isNotEqualTo(second.address());
    }
}
