package trigon.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RequestRingTest {

    private static final long COMM = 0x0007_0003_0000_0000L;

    private final CompletionBoard board = CompletionBoard.unseen();
    private final long row = board.open(COMM);

    RequestRingTest() {
        RequestRing.open(row);
    }

    private static long request(long sequence) {
        return RequestHandle.of(COMM, sequence);
    }

    private void begin(long sequence, int size) {
        RequestRing.begin(row, RequestRing.slot(sequence), request(sequence), size);
    }

    @AfterEach
    void close() {
        board.close();
    }

    @Test
    void aHandleTellsCommAndSequence() {
        for (long sequence : new long[] {0, 1, 31, 32, (1L << 30) - 1, 1L << 30, (1L << 40) + 5}) {
            long handle = RequestHandle.of(COMM, sequence);

            assertThat(handle).isPositive().isNotEqualTo(1);
            assertThat(handle & ~0xFFFF_FFFFL).isEqualTo(COMM);
            assertThat(RequestHandle.isRequest(handle)).isTrue();
            assertThat(RequestRing.slot(RequestHandle.sequence(handle))).isEqualTo(RequestRing.slot(sequence));
            assertThat(RequestHandle.of(COMM, sequence + 32)).isNotEqualTo(handle);
        }
        assertThat(RequestHandle.isRequest(COMM)).isFalse();
    }

    @Test
    void aSlotHoldsOneRequestUntilItIsFree() {
        begin(5, 100);
        assertThat(RequestRing.find(row, 5, request(5))).isEqualTo(RequestRing.PENDING);
        assertThat(RequestRing.find(row, 5, request(37))).isEqualTo(RequestRing.FREE);

        RequestRing.complete(row, 5, 60);
        assertThat(RequestRing.state(row, 5)).isEqualTo(RequestRing.DONE);
        assertThat(RequestRing.size(row, 5)).isEqualTo(60);

        RequestRing.take(row, 5);
        assertThat(RequestRing.find(row, 5, request(5))).isEqualTo(RequestRing.FREE);
    }

    @Test
    void whatTheLibraryHasToldNcclIsGone() {
        begin(37, 100);
        RequestRing.complete(row, 5, 60);
        assertThat(CompletionBoard.has(row, 5)).isTrue();

        CompletionBoard.clear(row, 5);

        assertThat(RequestRing.find(row, 5, request(37))).isEqualTo(RequestRing.FREE);
        assertThat(RequestRing.isFree(row, 5)).isTrue();
    }

    @Test
    void onlyWhatIsDoneIsShown() {
        begin(0, 1);
        begin(1, 1);
        begin(2, 1);
        RequestRing.complete(row, 2, 1);
        RequestRing.take(row, 2);
        RequestRing.failUnfinished(row);

        for (int slot = 0; slot < RequestRing.SLOTS; slot++) {
            assertThat(CompletionBoard.has(row, slot)).isFalse();
        }
    }

    @Test
    void requestsThatAreFinishedInTheirOrderAreCounted() {
        for (int sequence = 0; sequence < RequestRing.SLOTS; sequence++) {
            begin(sequence, 100);
        }
        RequestRing.completeNext(row, 60);
        RequestRing.completeNext(row, 61);

        assertThat(RequestRing.completed(row)).isEqualTo(2);
        assertThat(RequestRing.state(row, 0)).isEqualTo(RequestRing.DONE);
        assertThat(RequestRing.state(row, 1)).isEqualTo(RequestRing.DONE);
        assertThat(RequestRing.state(row, 2)).isEqualTo(RequestRing.PENDING);
        assertThat(RequestRing.size(row, 0)).isEqualTo(60);
        assertThat(RequestRing.size(row, 1)).isEqualTo(61);
        RequestRing.open(row);
        assertThat(RequestRing.completed(row)).isZero();
    }

    @Test
    void failureHitsWhatIsUnfinishedOnly() {
        begin(0, 1);
        begin(1, 1);
        begin(2, 1);
        RequestRing.complete(row, 0, 1);

        RequestRing.failUnfinished(row);

        assertThat(RequestRing.state(row, 0)).isEqualTo(RequestRing.DONE);
        assertThat(RequestRing.state(row, 1)).isEqualTo(RequestRing.FAILED);
        assertThat(RequestRing.state(row, 2)).isEqualTo(RequestRing.FAILED);
        assertThat(RequestRing.state(row, 3)).isEqualTo(RequestRing.FREE);
    }
}
