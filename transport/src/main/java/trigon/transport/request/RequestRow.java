package trigon.transport.request;

import trigon.transport.handle.HandleTable;

/**
 * Where things are in a session's row of the {@link RequestTable}, which the entry library reads and writes too; it
 * compares these numbers with its own when it starts.
 *
 * <p>What is known of a request lies together, in half a cache line: with many sessions, each line that a message
 * touches is a miss. Rows are an odd number of lines long, so that the same slot of many sessions does not compete for
 * the same sets of a cache.
 */
public final class RequestRow {

    /** Sessions that can be open at a time, and so entries of the library's table of rows. */
    public static final int ROWS = HandleTable.MAX_SLOTS;

    /**
     * Entries of a row, which begin where it does: requests that a session can have ({@code NCCL_NET_MAX_REQUESTS}).
     */
    public static final int REQUESTS = 32;

    /** An entry's length. */
    public static final long ENTRY_BYTES = 32;

    /** In an entry: the handle of a request that is finished and that NCCL has not heard of, 8 bytes; or 0. */
    public static final long FINISHED = 0;

    /** In an entry: the handle of the request that has the slot, or had it last, 8 bytes. */
    public static final long REQUEST = 8;

    /** In an entry: the size of the message, 8 bytes. */
    public static final long SIZE = 16;

    /** In an entry: what has become of the request, 8 bytes, see {@link Requests}. */
    public static final long STATE = 24;

    /** In a row: the session's handle, while its next message waits, 8 bytes; 0: it does not, or that is not known. */
    public static final long SENDER = REQUESTS * ENTRY_BYTES;

    /** In a row: address of the word that is waited for. */
    public static final long AWAITED = SENDER + 8;

    /** In a row: the word's value when the message need not wait any more. */
    public static final long ARRIVED = SENDER + 16;

    /**
     * In a row: calls for the message since then, 2 bytes; the library counts them, with the one that comes to Java.
     */
    public static final long WAITS = SENDER + 24;

    /**
     * In a row: polls that found nothing since the library last asked Java after one, 2 bytes; it does so with the
     * {@link #WAITS_AT_ONCE}th.
     */
    public static final long IDLE = SENDER + 26;

    /**
     * In a row: the opcode of completions that the library may take, 2 bytes; 0: none. Each is of the session's oldest
     * request that is not finished, and where it is a receive's, its immediate is the message's size.
     */
    public static final long TAKES = SENDER + 28;

    /**
     * In a row: not 0 while the library polls, or looks for what is waited for, 2 bytes. It says so first, and looks
     * then whether it may; who shuts it out does so first, and looks then whether it is inside.
     */
    public static final long INSIDE = SENDER + 30;

    /** In a row: address of the function that polls the session's completion queue; 0: the library does not. */
    public static final long POLL = SENDER + 32;

    /** In a row: the completion queue that it is called with. */
    public static final long QUEUE = SENDER + 40;

    /** In a row: where it puts completions; there is room for {@link #COMPLETIONS_AT_ONCE}. */
    public static final long COMPLETIONS = SENDER + 48;

    /** In a row: what it returned, if that was not 0 and Java has not taken it, 4 bytes. */
    public static final long POLLED = SENDER + 56;

    /** In a row: requests that were finished, one after the other, by the library or by Java, 4 bytes, modulo 2^32. */
    public static final long COMPLETED = SENDER + 60;

    private static final long LINE = 64;

    /** A row's length. */
    public static final long BYTES = SENDER + LINE;

    /**
     * So many calls for a message that waits, or for requests while the device has nothing to report, and the last of
     * them comes to Java, to look after the path.
     */
    public static final int WAITS_AT_ONCE = 64;

    /** Completions of a poll at most. */
    public static final int COMPLETIONS_AT_ONCE = 16;

    private RequestRow() {}
}
