package trigon.transport.handle;

/**
 * The {@code void*} that NCCL knows a request by: the comm's handle, and in its lower 32 bits the request's sequence
 * number in the comm and a 1. Never 0 (NULL to NCCL), and never 1, which means something to NCCL. Flushes have numbers
 * of their own, and another bit: failover counts messages alone.
 */
public final class RequestHandle {

    private static final int SEQUENCE_BITS = 30;
    private static final int SEQUENCE_SHIFT = 2;
    private static final long FLUSH = 2; // the entry library's is_flush looks at it

    private RequestHandle() {}

    /** The handle of a comm's request. */
    public static long of(long commHandle, long sequence) {
        return commHandle | (sequence & ((1L << SEQUENCE_BITS) - 1)) << SEQUENCE_SHIFT | 1;
    }

    /** The handle of a comm's flush. */
    public static long ofFlush(long commHandle, long sequence) {
        return of(commHandle, sequence) | FLUSH;
    }

    /** Tells whether the number looks like a request at all; comm and sequence may still be stale. */
    public static boolean isRequest(long handle) {
        return (handle & 1) == 1;
    }

    /** The lower 30 bits of the request's sequence number. */
    public static int sequence(long request) {
        return (int) request >>> SEQUENCE_SHIFT;
    }
}
