package trigon.software.wire;

/** The limits of every software device, so that both ends of a connection agree on them. */
public final class DeviceLimits {

    /** The number of the only port. */
    public static final int PORT = 1;

    /** Bound on any message, READs among them. */
    public static final int MAX_MESSAGE_BYTES = 1 << 30;

    /** READs and atomics outstanding one way. */
    public static final int MAX_READ_ATOMIC = 16;

    /** Room in a send queue, and in a receive queue. */
    public static final int MAX_WORK_REQUESTS = 16384;

    /** Bound on one completion queue. */
    public static final int MAX_COMPLETIONS = 1 << 20;

    /** Bytes that a request may bring along instead of naming registered memory. */
    public static final int MAX_INLINE_BYTES = 1024;

    /** Queue pair numbers have 24 bits, as in InfiniBand. */
    public static final int MAX_QUEUE_PAIR_NUMBER = 0xFF_FFFF;

    private DeviceLimits() {}
}
