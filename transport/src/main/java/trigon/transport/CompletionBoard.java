package trigon.transport;

import java.lang.foreign.Arena;
import trigon.verbs.Memory;

/**
 * Finished requests, in memory where the entry library finds them without a call into Java: whoever polls for one request
 * takes the completions of others too, and those need no poll of their own.
 *
 * <p>Each comm that is open has a row with an entry for each of its requests. The entry of a request that is finished and
 * that NCCL has not heard of holds the lower 32 bits of its handle, never 0, above its size; every other entry is 0. Who
 * tells NCCL, in Java or in C, clears the entry. Both are on the thread that makes the comm's data-path calls.
 *
 * <p>Rows live as long as the board, and pass from a comm that is closed to the next one in its slot of the
 * {@link HandleTable}: a stale request's handle never leads to memory that is gone.
 */
public final class CompletionBoard implements AutoCloseable {

    /** Comms that can be open at a time, and so entries of the library's table of rows. */
    public static final int ROWS = HandleTable.MAX_SLOTS;

    /** Entries of a row. */
    public static final int ROW_REQUESTS = RequestRing.SLOTS;

    /** Where a row's entries begin; before them is the handle of its comm. */
    public static final long ROW_ENTRIES = Long.BYTES;

    /** A row's length. */
    public static final long ROW_BYTES = ROW_ENTRIES + (long) ROW_REQUESTS * Long.BYTES;

    private static final int OWNER = 0;
    private static final long NOBODY = 1; // no handle of a comm
    private static final long LINE = 64;

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
            rows[slot] = arena.allocate(ROW_BYTES, LINE).address();
            if (table != 0) {
                Memory.putLong(table + (long) slot * Long.BYTES, rows[slot]);
            }
        }
        long row = rows[slot];
        for (int entry = 0; entry < ROW_REQUESTS; entry++) {
            clear(row, entry);
        }
        Memory.putLong(row + OWNER, commHandle);
        return row;
    }

    /** The comm is being closed: nothing is found in its row any more. */
    synchronized void close(long commHandle) {
        long row = rows[HandleTable.slot(commHandle)];
        if (row != 0 && Memory.getLong(row + OWNER) == commHandle) {
            Memory.putLong(row + OWNER, NOBODY);
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

    /** A request is finished, with a message of that many bytes. */
    public static void put(long row, int slot, long sequence, int size) {
        long handle = RequestHandle.of(0, sequence);
        Memory.putLong(at(row, slot), handle << Integer.SIZE | size);
    }

    /** Whether the entry is there: the request is finished, and NCCL has not heard of it. */
    static boolean has(long row, int slot) {
        return Memory.getLong(at(row, slot)) != 0;
    }

    /** NCCL hears of it now. */
    static void clear(long row, int slot) {
        Memory.putLong(at(row, slot), 0);
    }

    private static long at(long row, int slot) {
        return row + ROW_ENTRIES + (long) slot * Long.BYTES;
    }
}
