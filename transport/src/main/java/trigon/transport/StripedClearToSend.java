package trigon.transport;

/**
 * A {@link ClearToSend} entry for a comm of several queue pairs: with a remote key for each, since the queue pairs may be
 * of different devices. One cache line, with the sequence number last.
 */
final class StripedClearToSend {

    /** Size of an entry, and its alignment. */
    static final int STRIDE = 64;

    /** Where the message goes: 8 bytes. */
    static final int ADDRESS = 0;

    /** How much fits: 4 bytes. */
    static final int CAPACITY = 8;

    /** NCCL's tag: 4 bytes. */
    static final int TAG = 12;

    /** Remote keys of that memory, by stripe: 4 bytes each. */
    static final int REMOTE_KEYS = 16;

    /** Number of the message plus 1: 8 bytes, written last. */
    static final int SEQUENCE = 56;

    private StripedClearToSend() {}

    /** Offset of the entry of a message. */
    static int offset(long sequence) {
        return RequestRing.slot(sequence) * STRIDE;
    }

    /** Offset in an entry of a stripe's remote key. */
    static int remoteKey(int stripe) {
        return REMOTE_KEYS + stripe * Integer.BYTES;
    }
}
