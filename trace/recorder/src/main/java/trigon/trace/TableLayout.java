package trigon.trace;

/** Layout of {@code struct trace_table} of {@code net/trace.h}, which the entry library looks at. */
public final class TableLayout {

    /** 1: there are rings, 8 bytes. */
    public static final long IS_TRACING = 0;

    /** 1: the process exits, and the trace is to be closed, 8 bytes; written by the library. */
    public static final long IS_ENDING = 8;

    /** 1: it has been, 8 bytes. */
    public static final long HAS_ENDED = 16;

    /** Events of threads that found no ring, 8 bytes; counted by the library. */
    public static final long LOST_EVENTS = 24;

    /** Connections of the last sample of TCP's counters, 8 bytes; written by the library. */
    public static final long TCP_COUNT = 32;

    /** Those connections, {@link #TCP_BYTES} each. */
    public static final long TCP = 40;

    /** Size of a connection's entry: the local address as IPv6 has it, 16 bytes, and the counters, 8 bytes each. */
    public static final int TCP_BYTES = 48;

    /** In a connection: segments sent again. */
    public static final int TCP_RETRANSMITS = 16;

    /** In a connection: microseconds in which the receiver's window held it back. */
    public static final int TCP_WINDOW_LIMITED = 24;

    /** In a connection: microseconds in which it had something to send. */
    public static final int TCP_BUSY = 32;

    /** Connections that there is room for. */
    public static final int MAX_TCP = 512;

    /** Addresses of rings for threads that NCCL's profiler is called on, 8 bytes each. */
    public static final long THREADS = TCP + (long) MAX_TCP * TCP_BYTES;

    /** Number of threads at most. */
    public static final int MAX_THREADS = 64;

    /** Addresses of the comms' rings, by the slot number in a handle, 8 bytes each. */
    public static final long COMMS = THREADS + MAX_THREADS * 8L;

    /** Number of comms at most. */
    public static final int MAX_COMMS = 1 << 16;

    /** Length of all of it. */
    public static final long BYTES = COMMS + MAX_COMMS * 8L;

    private TableLayout() {}

    /** Address of the word that holds the address of a comm's ring, by the comm's handle. */
    static long comm(long table, long handle) {
        return table + COMMS + (handle >>> 32 & MAX_COMMS - 1) * 8;
    }
}
