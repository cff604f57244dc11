package trigon.transport.request;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.system.Memory;
import trigon.transport.handle.RequestHandle;
import trigon.transport.testsupport.LaneVerbs;

class RequestsTest {

    private static final long SESSION = 0x0007_0003_0000_0000L;

    private final RequestTable table = RequestTable.unseen(LaneVerbs.FUNCTIONS);
    private final Requests requests = table.open(SESSION);

    private boolean isShown(int slot) {
        return Memory.getLong(requests.row() + slot * RequestRow.ENTRY_BYTES + RequestRow.FINISHED) != 0;
    }

    @AfterEach
    void close() {
        table.close();
    }

    @Test
    void aHandleTellsSessionAndSequence() {
        for (long sequence : new long[] {0, 1, 31, 32, (1L << 30) - 1, 1L << 30, (1L << 40) + 5}) {
            long handle = RequestHandle.of(SESSION, sequence);

            assertThat(handle).isPositive().isNotEqualTo(1);
            assertThat(handle & ~0xFFFF_FFFFL).isEqualTo(SESSION);
            assertThat(RequestHandle.isRequest(handle)).isTrue();
            assertThat(Requests.slot(RequestHandle.sequence(handle))).isEqualTo(Requests.slot(sequence));
            assertThat(RequestHandle.of(SESSION, sequence + 32)).isNotEqualTo(handle);
        }
        assertThat(RequestHandle.isRequest(SESSION)).isFalse();
    }

    @Test
    void aSlotHoldsOneRequestUntilItIsFree() {
        long request = requests.begin(5, 100);
        assertThat(request).isEqualTo(RequestHandle.of(SESSION, 5));
        assertThat(requests.find(5, request)).isEqualTo(Requests.PENDING);
        assertThat(requests.find(5, RequestHandle.of(SESSION, 37))).isEqualTo(Requests.FREE);

        requests.complete(5, 60);
        assertThat(requests.state(5)).isEqualTo(Requests.DONE);
        assertThat(requests.size(5)).isEqualTo(60);

        requests.take(5);
        assertThat(requests.find(5, request)).isEqualTo(Requests.FREE);
    }

    @Test
    void whatTheLibraryHasToldNcclIsGone() {
        long request = requests.begin(37, 100);
        requests.complete(5, 60);
        assertThat(isShown(5)).isTrue();

        Memory.putLong(requests.row() + 5 * RequestRow.ENTRY_BYTES + RequestRow.FINISHED, 0);

        assertThat(requests.find(5, request)).isEqualTo(Requests.FREE);
        assertThat(requests.isFree(5)).isTrue();
    }

    @Test
    void onlyWhatIsDoneIsShown() {
        requests.begin(0, 1);
        requests.begin(1, 1);
        requests.begin(2, 1);
        requests.complete(2, 1);
        requests.take(2);
        requests.failUnfinished();

        for (int slot = 0; slot < RequestRow.REQUESTS; slot++) {
            assertThat(isShown(slot)).isFalse();
        }
    }

    @Test
    void requestsThatAreFinishedInTheirOrderAreCounted() {
        for (int sequence = 0; sequence < RequestRow.REQUESTS; sequence++) {
            requests.begin(sequence, 100);
        }
        requests.completeNext(60);
        requests.completeNext(61);

        assertThat(requests.completed()).isEqualTo(2);
        assertThat(requests.state(0)).isEqualTo(Requests.DONE);
        assertThat(requests.state(1)).isEqualTo(Requests.DONE);
        assertThat(requests.state(2)).isEqualTo(Requests.PENDING);
        assertThat(requests.size(0)).isEqualTo(60);
        assertThat(requests.size(1)).isEqualTo(61);
        assertThat(table.open(SESSION).completed()).isZero();
    }

    @Test
    void failureHitsWhatIsUnfinishedOnly() {
        requests.begin(0, 1);
        requests.begin(1, 1);
        requests.begin(2, 1);
        requests.complete(0, 1);

        requests.failUnfinished();

        assertThat(requests.state(0)).isEqualTo(Requests.DONE);
        assertThat(requests.state(1)).isEqualTo(Requests.FAILED);
        assertThat(requests.state(2)).isEqualTo(Requests.FAILED);
        assertThat(requests.state(3)).isEqualTo(Requests.FREE);
    }
}
