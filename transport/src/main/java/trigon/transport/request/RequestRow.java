package trigon.transport.request;

import trigon.transport.handle.HandleTable;

/**
 * The layout of a session's row in the {@link RequestTable}. The entry library reads and writes rows, too; when it
 * starts, it compares these numbers with its own.
 *
 * <p>The fields of a request share half a cache line, because with many sessions each line that a message touches is a
 * miss. Rows are an odd number of lines long, so that equal slots of many sessions do not compete for the same sets of
 * a cache.
 */
public final class RequestRow {

    /** Most sessions that can be open, and so the length of the library's table of rows. */
    public static final int ROWS = HandleTable.MAX_SLOTS;

    /** Entries at the start of a row: the most requests of a session ({@code NCCL_NET_MAX_REQUESTS}). */
    public static final int REQUESTS = 32;

    public static final long ENTRY_BYTES = 32;

    /** In an entry: the handle of a finished request that NCCL has not been told of, 8 bytes; or 0. */
    public static final long FINISHED = 0;

    /** In an entry: the handle of the request that has the slot or had it last, 8 bytes. */
    public static final long REQUEST = 8;

    /** In an entry: the size of the message, 8 bytes. */
    public static final long SIZE = 16;

    /** In an entry: the state of the request, 8 bytes, see {@link Requests}. */
    public static final long STATE = 24;

    /** In a row: the session's handle while its next message waits, 8 bytes; 0 if none waits, or if that is unknown. */
    public static final long SENDER = REQUESTS * ENTRY_BYTES;

    /** In a row: address of the word that the message waits for. */
    public static final long AWAITED = SENDER + 8;

    /** In a row: the value of that word that ends the wait. */
    public static final long ARRIVED = SENDER + 16;

    /** In a row: calls for the message since it began to wait, including those that reach Java, 2 bytes. */
    public static final long WAITS = SENDER + 24;

    /** In a row: empty polls since the library last asked Java, 2 bytes; the {@link #WAITS_AT_ONCE}th asks again. */
    public static final long IDLE = SENDER + 26;

    /**
     * In a row: the opcode of completions that the library may take, 2 bytes; 0: none. Each belongs to the session's
     * oldest unfinished request. The immediate of a receive's completion is the message's size.
     */
    public static final long TAKES = SENDER + 28;

    /**
     * In a row: not 0 while the library polls or reads the awaited word, 2 bytes. The library sets it before it checks
     * whether it may; Java shuts the library out before it checks this.
     */
    public static final long INSIDE = SENDER + 30;

    /** In a row: address of the function that polls the session's completion queue; 0: the library does not. */
    public static final long POLL = SENDER + 32;

    /** In a row: the completion queue, which is that function's argument. */
    public static final long QUEUE = SENDER + 40;

    /** In a row: where it writes completions; there is room for {@link #COMPLETIONS_AT_ONCE}. */
    public static final long COMPLETIONS = SENDER + 48;

    /** In a row: what it returned, if that was not 0 and Java has not taken it, 4 bytes. */
    public static final long POLLED = SENDER + 56;

    /** In a row: number of requests that the library or Java has finished, 4 bytes, modulo 2^32. */
    public static final long COMPLETED = SENDER + 60;

    private static final long LINE = 64;

    public static final long BYTES = SENDER + LINE;

    /** After so many calls that find nothing, the library asks Java, which checks the path. */
    public static final int WAITS_AT_ONCE = 64;

    /** Most completions of a poll. */
    public static final int COMPLETIONS_AT_ONCE = 16;

    private RequestRow() {}
}
