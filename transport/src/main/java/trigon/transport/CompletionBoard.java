package trigon.transport;

import java.lang.foreign.Arena;
import trigon.verbs.Memory;
import trigon.verbs.NativePoll;
import trigon.verbs.WorkCompletions;

/**
 * The requests of all comms, in memory where the entry library finds those that are finished without a call into Java:
 * whoever polls for one request takes the completions of others too, and those need no poll of their own.
 *
 * <p>Each comm that is open has a row with an entry for each of its requests, which its {@link RequestRing} keeps. The entry
 * of a request that is finished and that NCCL has not heard of holds the request's handle, never 0; every other one holds 0
 * there. Who tells NCCL, in Java or in C, clears it. Both are on the thread that makes the comm's data-path calls.
 *
 * <p>An RDMA comm's row also says how the library polls the comm's completion queue, so that a request for which there is nothing
 * needs no call either. What it finds are mostly requests that succeeded, in their order: those it finishes as Java would, and counts
 * them, see {@link #COMPLETED}. Anything else it leaves where Java polls into, and asks Java at once.
 *
 * <p>And a row says what the comm's next message waits for, if it does: a word of the ring where the receiver's NIC writes.
 * Until that is there, the library answers most calls to send it. Before it asks Java to send, and when the comm fails, the row
 * falls silent; so it says nothing that was not so at the last call for that message.
 *
 * <p>What is known of a request lies together, in half a cache line: with many comms, each line that a message touches is a
 * miss. Rows are an odd number of lines long, so that the same slot of many comms does not compete for the same sets of a
 * cache.
 *
 * <p>Rows live as long as the board, and pass from a comm that is closed to the next one in its slot of the
 * {@link HandleTable}: a stale request's handle never leads to memory that is gone.
 */
public final class CompletionBoard implements AutoCloseable {

    /** Comms that can be open at a time, and so entries of the library's table of rows. */
    public static final int ROWS = HandleTable.MAX_SLOTS;

    /** Entries of a row; they begin where it does. */
    public static final int ROW_REQUESTS = RequestRing.SLOTS;

    /** An entry's length. */
    public static final long ENTRY_BYTES = 32;

    /** In an entry: the handle of a finished request, 8 bytes. */
    public static final long FINISHED = 0;

    /** In an entry: the handle of the request that has the slot, or had it last, 8 bytes. */
    public static final long REQUEST = 8;

    /** In an entry: the size of the message, 8 bytes. */
    public static final long SIZE = 16;

    /** In an entry: what has become of the request, 8 bytes, see {@link RequestRing}. */
    public static final long STATE = 24;

    /** The state of a request that is handed to the device. */
    public static final int PENDING = 1;

    /** The state of one that the device finished. */
    public static final int DONE = 3;

    /** In a row: the comm's handle, while its next message waits, 8 bytes; 0: it does not, or that is not known. */
    public static final long SENDER = ROW_REQUESTS * ENTRY_BYTES;

    /** In a row: address of the word that is waited for. */
    public static final long AWAITED = SENDER + 8;

    /** In a row: the word's value when the message need not wait any more. */
    public static final long ARRIVED = SENDER + 16;

    /** In a row: calls for the message since then, 2 bytes; the library counts them, with the one that comes to Java. */
    public static final long WAITS = SENDER + 24;

    /** In a row: polls that found nothing since the library last asked Java after one, 2 bytes; it does so with the {@link #WAITS_AT_ONCE}th. */
    public static final long IDLE = SENDER + 26;

    /**
     * In a row: the opcode of completions that the library may take, 2 bytes; 0: none. Each is of the comm's oldest request that
     * is not finished, and where it is a receive's, its immediate is the message's size.
     */
    public static final long TAKES = SENDER + 28;

    /**
     * So many calls for a message that waits, or for requests while the device has nothing to report, and the last of them comes
     * to Java, to look after the connection.
     */
    public static final int WAITS_AT_ONCE = 64;

    /** In a row: address of the function that polls the comm's completion queue; 0: the library does not. */
    public static final long POLL = SENDER + 32;

    /** In a row: the completion queue that it is called with. */
    public static final long QUEUE = SENDER + 40;

    /** In a row: where it puts completions; there is room for {@link #COMPLETIONS_AT_ONCE}. */
    public static final long COMPLETIONS = SENDER + 48;

    /** In a row: what it returned, if that was not 0 and Java has not taken it, 4 bytes. */
    public static final long POLLED = SENDER + 56;

    /** In a row: requests that were finished, one after the other, by the library or by Java, 4 bytes, modulo 2^32. */
    public static final long COMPLETED = SENDER + 60;

    /** Completions of a poll at most. */
    public static final int COMPLETIONS_AT_ONCE = 16;

    private static final long LINE = 64;

    /** A row's length. */
    public static final long ROW_BYTES = SENDER + LINE;

    /** From one row's completions to the next one's: an odd number of lines, too. */
    private static final long COMPLETIONS_BYTES = (long) COMPLETIONS_AT_ONCE * WorkCompletions.STRIDE + LINE;

    /** Rows of neighbouring slots that lie together, and behind them their completions: a few pages for many comms. */
    private static final int ROWS_AT_ONCE = 16;

    private final long table;
    private final Arena arena = Arena.ofShared();
    private final long[] rows = new long[ROWS];

    private CompletionBoard(long table) {
        this.table = table;
    }

    /**
     * The board that the entry library looks at.
     *
     * @param table address of {@value #ROWS} addresses of rows, all null; it outlives the board
     */
    public static CompletionBoard of(long table) {
        return new CompletionBoard(table);
    }

    /** A board that nobody looks at. */
    public static CompletionBoard unseen() {
        return new CompletionBoard(0);
    }

    /** The row of a comm that has just been opened, with no request finished; any thread. */
    public synchronized long open(long commHandle) {
        int slot = HandleTable.slot(commHandle);
        if (rows[slot] == 0) {
            makeRows(slot - slot % ROWS_AT_ONCE);
        }
        clearAll(rows[slot]);
        if (table != 0) {
            Memory.putLong(table + (long) slot * Long.BYTES, rows[slot]);
        }
        return rows[slot];
    }

    /**
     * Where the poll of the comm that has that row puts what it finds. Like the row it passes from comm to comm: memory of each
     * one's own would have to be freed, for which the JVM stops all threads that run Java, NCCL's among them.
     */
    synchronized WorkCompletions completions(long commHandle) {
        int place = HandleTable.slot(commHandle) % ROWS_AT_ONCE;
        long behindRows = rows[HandleTable.slot(commHandle) - place] + ROWS_AT_ONCE * ROW_BYTES;
        return new WorkCompletions(behindRows + place * COMPLETIONS_BYTES, COMPLETIONS_AT_ONCE);
    }

    private void makeRows(int first) {
        long address = arena.allocate(ROWS_AT_ONCE * (ROW_BYTES + COMPLETIONS_BYTES), LINE)
                .address();
        for (int i = 0; i < ROWS_AT_ONCE; i++) {
            rows[first + i] = address + i * ROW_BYTES;
        }
    }

    /** The comm, which still has its slot, is being closed: nothing is found in its row any more. */
    synchronized void close(long commHandle) {
        clearAll(rows[HandleTable.slot(commHandle)]);
    }

    private static void clearAll(long row) {
        endWait(row);
        endPolling(row);
        for (int slot = 0; slot < ROW_REQUESTS; slot++) {
            clear(row, slot);
        }
    }

    /** Takes the rows away; no comm is open any more, and nobody asks for a request. */
    @Override
    public synchronized void close() {
        for (int slot = 0; slot < ROWS && table != 0; slot++) {
            Memory.putLong(table + (long) slot * Long.BYTES, 0);
        }
        arena.close();
    }

    // ---- the data path

    /** Where a request's entry is. */
    static long entry(long row, int slot) {
        return row + slot * ENTRY_BYTES;
    }

    /** A request is finished, with a message of that many bytes. */
    public static void put(long row, int slot, long request, int size) {
        Memory.putLong(entry(row, slot) + SIZE, size);
        show(row, slot, request);
    }

    /** A request is finished, and its size is there. */
    static void show(long row, int slot, long request) {
        Memory.putLong(entry(row, slot) + FINISHED, request);
    }

    /**
     * The comm's next message waits until a word has a value.
     *
     * @param comm the comm's handle
     * @param address of the word; readable until the comm is closed
     */
    public static void await(long row, long comm, long address, long value) {
        Memory.putLong(row + AWAITED, address);
        Memory.putLong(row + ARRIVED, value);
        Memory.putShort(row + WAITS, (short) 0);
        Memory.putLong(row + SENDER, comm);
    }

    /**
     * The library may poll the comm's completion queue, until {@link #endPolling} or the comm is closed.
     *
     * @param completions where it puts what it finds: {@link #COMPLETIONS_AT_ONCE} times {@code struct ibv_wc}
     */
    public static void pollWith(long row, NativePoll poll, long completions) {
        Memory.putLong(row + QUEUE, poll.queue());
        Memory.putLong(row + COMPLETIONS, completions);
        Memory.putLong(row + POLL, poll.function());
    }

    /** Only Java polls from now on. */
    static void endPolling(long row) {
        Memory.putLong(row + POLL, 0);
        Memory.putInt(row + POLLED, 0);
        Memory.putShort(row + IDLE, (short) 0);
        letTake(row, 0);
    }

    /** The library may take completions of that opcode, or with 0 none, see {@link #TAKES}. */
    public static void letTake(long row, int opcode) {
        Memory.putShort(row + TAKES, (short) opcode);
    }

    /** What the library's last poll returned, unless Java has taken it or it was 0; the library may poll again. */
    public static int takePolled(long row) {
        int count = Memory.getInt(row + POLLED);
        if (count != 0) {
            Memory.putInt(row + POLLED, 0);
        }
        return count;
    }

    /** It is not known any more that the comm's next message waits. */
    static void endWait(long row) {
        Memory.putLong(row + SENDER, 0);
    }

    /** Whether it is there: the request is finished, and NCCL has not heard of it. */
    static boolean has(long row, int slot) {
        return Memory.getLong(entry(row, slot) + FINISHED) != 0;
    }

    /** NCCL hears of it now. */
    static void clear(long row, int slot) {
        Memory.putLong(entry(row, slot) + FINISHED, 0);
    }
}
