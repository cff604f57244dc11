package trigon.transport;

/**
 * What a receiver writes into the sender's memory, by RDMA WRITE, to say where the next message may go: one entry per
 * message, in a ring of as many slots as a comm has requests.
 *
 * <p>An entry is valid when its sequence number, the last word, is the message's number plus 1. It lies within one cache
 * line, so that a device writes it in one piece, the last word not before the others.
 */
final class ClearToSend {

    /** Size of an entry, and its alignment. */
    static final int STRIDE = 32;

    /** Where the message goes: 8 bytes. */
    static final int ADDRESS = 0;

    /** Remote key of that memory: 4 bytes. */
    static final int REMOTE_KEY = 8;

    /** How much fits: 4 bytes. */
    static final int CAPACITY = 12;

    /** NCCL's tag: 4 bytes. */
    static final int TAG = 16;

    /** Number of the message plus 1: 8 bytes, written last. */
    static final int SEQUENCE = 24;

    private ClearToSend() {}

    /** Offset of the entry of a message. */
    static int offset(long sequence) {
        return RequestRing.slot(sequence) * STRIDE;
    }
}
