package trigon.transport.request;

import java.lang.foreign.Arena;
import trigon.system.Memory;
import trigon.transport.handle.HandleTable;
import trigon.verbs.WorkCompletions;

/**
 * The rows of all sessions' requests, in memory where the entry library finds those that are finished without a call
 * into Java: whoever polls for one request takes the completions of others too, and those need no poll of their own.
 * For what a row holds see {@link RequestRow}, for what is done with it {@link Requests}.
 *
 * <p>Rows live as long as the table, and pass from a session that is closed to the next one in its slot of the
 * {@link HandleTable}: a stale request's handle never leads to memory that is gone. Thread-safe.
 */
public final class RequestTable implements AutoCloseable {

    private static final long LINE = 64;

    /** From one row's completions to the next one's: an odd number of lines, too. */
    private static final long COMPLETIONS_BYTES = (long) RequestRow.COMPLETIONS_AT_ONCE * WorkCompletions.STRIDE + LINE;

    /**
     * Rows of neighbouring slots that lie together, and behind them their completions: a few pages for many sessions.
     */
    private static final int ROWS_AT_ONCE = 16;

    private final long addresses;
    private final Arena arena = Arena.ofShared();
    private final long[] rows = new long[RequestRow.ROWS];

    private final LaneFunctions functions;
    private final MemoryTable memories;
    private boolean lanes = true;

    private RequestTable(long addresses, long memoryAddresses, LaneFunctions functions) {
        this.addresses = addresses;
        this.functions = functions;
        memories = new MemoryTable(memoryAddresses);
    }

    /**
     * The table that the entry library looks at.
     *
     * @param addresses where the library looks for {@value RequestRow#ROWS} addresses of rows, all null; outlives the
     *     table
     * @param memories where it looks for as many addresses of registrations; the same
     * @param functions the library's
     */
    public static RequestTable of(long addresses, long memories, LaneFunctions functions) {
        return new RequestTable(addresses, memories, functions);
    }

    /** A table that nobody looks at. */
    public static RequestTable unseen(LaneFunctions functions) {
        return new RequestTable(0, 0, functions);
    }

    /** A table that nobody looks at, with the same functions. */
    public RequestTable unseen() {
        return unseen(functions);
    }

    /** Tells whether the entry library looks at it, and so makes the calls for the sessions. */
    public boolean isSeen() {
        return addresses != 0;
    }

    /** The library moves no messages of the sessions to come, but calls Java for each. */
    public synchronized void leaveMessagesToJava() {
        lanes = false;
    }

    /** The table in which the library finds registered memory. */
    public MemoryTable memories() {
        return memories;
    }

    /** The requests of a session that has just got its handle; none yet. */
    public synchronized Requests open(long sessionHandle) {
        int slot = HandleTable.slot(sessionHandle);
        if (rows[slot] == 0) {
            makeRows(slot - slot % ROWS_AT_ONCE);
        }
        Requests requests = new Requests(rows[slot], sessionHandle, completions(slot), functions, memories, lanes);
        requests.reset();
        if (addresses != 0) {
            // a stale handle may lead the library here: it is not to find a row before what is in it
            Memory.putLongRelease(addresses + (long) slot * Long.BYTES, rows[slot]);
        }
        return requests;
    }

    /**
     * Returns where the poll of the session that has that row puts what it finds. Like the row it passes from session
     * to session: memory of each one's own would have to be freed, for which the JVM stops all threads that run Java,
     * NCCL's among them.
     */
    private WorkCompletions completions(int slot) {
        int place = slot % ROWS_AT_ONCE;
        long behindRows = rows[slot - place] + ROWS_AT_ONCE * RequestRow.BYTES;
        return new WorkCompletions(behindRows + place * COMPLETIONS_BYTES, RequestRow.COMPLETIONS_AT_ONCE);
    }

    private void makeRows(int first) {
        long address = arena.allocate(ROWS_AT_ONCE * (RequestRow.BYTES + COMPLETIONS_BYTES), LINE)
                .address();
        for (int i = 0; i < ROWS_AT_ONCE; i++) {
            rows[first + i] = address + i * RequestRow.BYTES;
        }
    }

    /** Takes the rows away; no session is open any more, and nobody asks for a request. */
    @Override
    public synchronized void close() {
        for (int slot = 0; slot < RequestRow.ROWS && addresses != 0; slot++) {
            Memory.putLongRelease(addresses + (long) slot * Long.BYTES, 0);
        }
        memories.close();
        arena.close();
    }
}
