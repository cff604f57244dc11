package trigon.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.verbs.Memory;
import trigon.verbs.NativePoll;
import trigon.verbs.WorkCompletions;

class CompletionBoardTest {

    private static final int SLOT = 3;
    private static final long COMM = 7L << 48 | (long) SLOT << 32;
    private static final long NEXT_COMM = 8L << 48 | (long) SLOT << 32;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment table = arena.allocate((long) CompletionBoard.ROWS * Long.BYTES, Long.BYTES);
    private final CompletionBoard board = CompletionBoard.of(table.address());

    @AfterEach
    void close() {
        arena.close();
    }

    @Test
    void showsAFinishedRequestInItsCommsRow() {
        long row = board.open(COMM);
        long request = RequestHandle.of(COMM, 37);

        CompletionBoard.put(row, RequestRing.slot(37), request, 1 << 30);

        assertThat(rowInTable(SLOT)).isEqualTo(row);
        assertThat(rowInTable(SLOT + 1)).isZero();
        long entry = row + 5 * CompletionBoard.ENTRY_BYTES;
        assertThat(Memory.getLong(entry + CompletionBoard.FINISHED)).isEqualTo(request);
        assertThat(Memory.getLong(entry + CompletionBoard.SIZE)).isEqualTo(1 << 30);
        assertThat(CompletionBoard.has(row, 5)).isTrue();
        CompletionBoard.clear(row, 5);
        assertThat(CompletionBoard.has(row, 5)).isFalse();
        board.close();
    }

    @Test
    void aClosedCommsRowIsNobodysUntilTheNextCommTakesIt() {
        long row = board.open(COMM);
        CompletionBoard.put(row, 0, RequestHandle.of(COMM, 0), 8);

        board.close(COMM);
        assertThat(CompletionBoard.has(row, 0)).isFalse();

        assertThat(board.open(NEXT_COMM)).isEqualTo(row);
        board.close();
    }

    @Test
    void eachCommHasRoomForItsCompletionsAndNobodyElses() {
        TreeMap<Long, Long> taken = new TreeMap<>();
        for (int slot = 0; slot < 40; slot++) {
            long comm = 7L << 48 | (long) slot << 32;
            long row = board.open(comm);
            long completions = board.completions(comm).address();
            taken.put(row, row + CompletionBoard.ROW_BYTES);
            taken.put(completions, completions + CompletionBoard.COMPLETIONS_AT_ONCE * WorkCompletions.STRIDE);
        }
        long end = 0;
        for (var piece : taken.entrySet()) {
            assertThat(piece.getKey())
                    .isGreaterThanOrEqualTo(end)
                    .satisfies(at -> assertThat(at % 64).isZero());
            end = piece.getValue();
        }
        assertThat(taken).hasSize(80);
        board.close();
    }

    @Test
    void saysWhatAMessageWaitsForUntilItsCommIsClosed() {
        long row = board.open(COMM);

        CompletionBoard.await(row, COMM, table.address(), 7);

        assertThat(Memory.getLong(row + CompletionBoard.SENDER)).isEqualTo(COMM);
        assertThat(Memory.getLong(row + CompletionBoard.AWAITED)).isEqualTo(table.address());
        assertThat(Memory.getLong(row + CompletionBoard.ARRIVED)).isEqualTo(7);
        assertThat(Memory.getShort(row + CompletionBoard.WAITS)).isZero();
        CompletionBoard.endWait(row);
        assertThat(Memory.getLong(row + CompletionBoard.SENDER)).isZero();
        CompletionBoard.await(row, COMM, table.address(), 8);
        board.close(COMM);
        assertThat(Memory.getLong(row + CompletionBoard.SENDER)).isZero();
        board.close();
    }

    @Test
    void saysHowTheCompletionQueueIsPolledUntilItsCommIsClosed() {
        long row = board.open(COMM);

        CompletionBoard.pollWith(row, new NativePoll(1, 2), 3);

        assertThat(Memory.getLong(row + CompletionBoard.POLL)).isEqualTo(1);
        assertThat(Memory.getLong(row + CompletionBoard.QUEUE)).isEqualTo(2);
        assertThat(Memory.getLong(row + CompletionBoard.COMPLETIONS)).isEqualTo(3);
        assertThat(CompletionBoard.takePolled(row)).isZero();
        Memory.putInt(row + CompletionBoard.POLLED, 4);
        assertThat(CompletionBoard.takePolled(row)).isEqualTo(4);
        assertThat(CompletionBoard.takePolled(row)).isZero();
        Memory.putInt(row + CompletionBoard.POLLED, 5);
        board.close(COMM);
        assertThat(Memory.getLong(row + CompletionBoard.POLL)).isZero();
        assertThat(CompletionBoard.takePolled(row)).isZero();
        board.close();
    }

    @Test
    void takesItsRowsOutOfTheTableAtTheEnd() {
        board.open(COMM);

        board.close();

        for (int slot = 0; slot < CompletionBoard.ROWS; slot++) {
            assertThat(rowInTable(slot)).isZero();
        }
    }

    private long rowInTable(int slot) {
        return table.getAtIndex(ValueLayout.JAVA_LONG, slot);
    }
}
