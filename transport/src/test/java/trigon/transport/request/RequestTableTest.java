package trigon.transport.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.system.Memory;
import trigon.transport.testsupport.LaneVerbs;
import trigon.verbs.WorkCompletions;

/** What the entry library finds in the table. */
class RequestTableTest {

    private static final int SLOT = 3;
    private static final long SESSION = 7L << 48 | (long) SLOT << 32;
    private static final long NEXT_SESSION = 8L << 48 | (long) SLOT << 32;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment addresses = arena.allocate((long) RequestRow.ROWS * Long.BYTES, Long.BYTES);
    private final RequestTable table = RequestTable.of(addresses.address(), 0, LaneVerbs.FUNCTIONS);

    @AfterEach
    void close() {
        table.close();
        arena.close();
    }

    @Test
    void showsAFinishedRequestInItsSessionsRow() {
        Requests requests = table.open(SESSION);
        long request = requests.begin(37, 1 << 30);

        requests.complete(Requests.slot(37), 1 << 20);

        assertThat(rowInTable(SLOT)).isEqualTo(requests.row());
        assertThat(rowInTable(SLOT + 1)).isZero();
        long entry = requests.row() + 5 * RequestRow.ENTRY_BYTES;
        assertThat(Memory.getLong(entry + RequestRow.FINISHED)).isEqualTo(request);
        assertThat(Memory.getLong(entry + RequestRow.SIZE)).isEqualTo(1 << 20);
        requests.take(5);
        assertThat(Memory.getLong(entry + RequestRow.FINISHED)).isZero();
    }

    @Test
    void aClosedSessionsRowIsNobodysUntilTheNextSessionTakesIt() {
        Requests requests = table.open(SESSION);
        requests.begin(0, 8);
        requests.complete(0, 8);

        requests.close();
        assertThat(Memory.getLong(requests.row() + RequestRow.FINISHED)).isZero();

        assertThat(table.open(NEXT_SESSION).row()).isEqualTo(requests.row());
    }

    @Test
    void eachSessionHasRoomForItsCompletionsAndNobodyElses() {
        TreeMap<Long, Long> taken = new TreeMap<>();
        for (int slot = 0; slot < 40; slot++) {
            Requests requests = table.open(7L << 48 | (long) slot << 32);
            long completions = requests.completions().address();
            taken.put(requests.row(), requests.row() + RequestRow.BYTES);
            taken.put(completions, completions + RequestRow.COMPLETIONS_AT_ONCE * WorkCompletions.STRIDE);
        }
        long end = 0;
        for (var piece : taken.entrySet()) {
            assertThat(piece.getKey())
                    .isGreaterThanOrEqualTo(end)
                    .satisfies(at -> assertThat(at % 64).isZero());
            end = piece.getValue();
        }
        assertThat(taken).hasSize(80);
    }

    @Test
    void keepsWhatTheLibraryHasPolledForJavaUntilItTakesIt() {
        Requests requests = table.open(SESSION);
        long row = requests.row();

        assertThat(Memory.getLong(row + RequestRow.HANDLE)).isEqualTo(SESSION);
        assertThat(Memory.getLong(row + RequestRow.COMPLETIONS))
                .isEqualTo(requests.completions().address());
        assertThat(requests.takePolled()).isZero();
        Memory.putInt(row + RequestRow.POLLED, 4);
        Memory.putShort(row + RequestRow.TAKEN, (short) 3);
        assertThat(requests.takePolled()).isEqualTo(4);
        assertThat(requests.taken()).isEqualTo(3);
        assertThat(requests.takePolled()).isZero();
        Memory.putInt(row + RequestRow.POLLED, 5);
        requests.failUnfinished();
        assertThat(requests.takePolled()).isZero();
        requests.close();
        assertThat(Memory.getLong(row + RequestRow.HANDLE)).isZero();
    }

    @Test
    void takesItsRowsAwayAtTheEnd() {
        RequestTable other = RequestTable.of(addresses.address(), 0, LaneVerbs.FUNCTIONS);
        other.open(SESSION);

        other.close();

        for (int slot = 0; slot < RequestRow.ROWS; slot++) {
            assertThat(rowInTable(slot)).isZero();
        }
    }

    private long rowInTable(int slot) {
        return addresses.getAtIndex(ValueLayout.JAVA_LONG, slot);
    }
}
