package trigon.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RequestRingTest {

    private static final long COMM = 0x0007_0003_0000_0000L;

    private final CompletionBoard board = CompletionBoard.unseen();
    private final RequestRing ring = new RequestRing();
    private final long row = open();

    private long open() {
        ring.open(board, COMM);
        return board.open(COMM); // the same again: nothing has been asked for yet
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
            assertThat(RequestHandle.matches(sequence, RequestHandle.sequence(handle)))
                    .isTrue();
            assertThat(RequestHandle.matches(sequence + 32, RequestHandle.sequence(handle)))
                    .isFalse();
        }
        assertThat(RequestHandle.isRequest(COMM)).isFalse();
    }

    @Test
    void aSlotHoldsOneRequestUntilItIsFree() {
        ring.begin(5, 100);
        assertThat(ring.find(5, 5)).isEqualTo(RequestRing.PENDING);
        assertThat(ring.find(5, 37)).isEqualTo(RequestRing.FREE);

        ring.complete(5, 60);
        assertThat(ring.state(5)).isEqualTo(RequestRing.DONE);
        assertThat(ring.size(5)).isEqualTo(60);

        ring.take(5);
        assertThat(ring.find(5, 5)).isEqualTo(RequestRing.FREE);
    }

    @Test
    void whatTheLibraryHasToldNcclIsGone() {
        ring.begin(37, 100);
        ring.complete(5, 60);
        assertThat(CompletionBoard.has(row, 5)).isTrue();

        CompletionBoard.clear(row, 5);

        assertThat(ring.find(5, 37)).isEqualTo(RequestRing.FREE);
        assertThat(ring.isFree(5)).isTrue();
    }

    @Test
    void onlyWhatIsDoneIsShown() {
        ring.begin(0, 1);
        ring.begin(1, 1);
        ring.begin(2, 1);
        ring.setState(1, RequestRing.OPTIONAL);
        ring.setState(1, RequestRing.FORGOTTEN);
        ring.complete(1, 1);
        ring.complete(2, 1);
        ring.take(2);
        ring.failUnfinished();

        for (int slot = 0; slot < RequestRing.SLOTS; slot++) {
            assertThat(CompletionBoard.has(row, slot)).isFalse();
        }
    }

    @Test
    void aForgottenRequestIsGoneButItsSlotWaitsForTheDevice() {
        ring.begin(3, 8);
        ring.setState(3, RequestRing.OPTIONAL);
        ring.setState(3, RequestRing.FORGOTTEN);
        assertThat(ring.find(3, 3)).isEqualTo(RequestRing.FREE);
        assertThat(ring.state(3)).isNotEqualTo(RequestRing.FREE);

        ring.complete(3, 8);
        assertThat(ring.state(3)).isEqualTo(RequestRing.FREE);
    }

    @Test
    void failureHitsWhatIsUnfinishedOnly() {
        ring.begin(0, 1);
        ring.begin(1, 1);
        ring.begin(2, 1);
        ring.complete(0, 1);
        ring.setState(2, RequestRing.OPTIONAL);

        ring.failUnfinished();

        assertThat(ring.state(0)).isEqualTo(RequestRing.DONE);
        assertThat(ring.state(1)).isEqualTo(RequestRing.FAILED);
        assertThat(ring.state(2)).isEqualTo(RequestRing.FAILED);
        assertThat(ring.state(3)).isEqualTo(RequestRing.FREE);
    }
}
