package trigon.transport.protocol;

import trigon.transport.request.RequestRow;
import trigon.transport.request.Requests;

/**
 * The entry that a receiver writes into the sender's memory, by RDMA WRITE, to say where the next message may go: one
 * entry per message, in a ring of as many slots as a session has requests. It has a remote key for each path, since
 * their queue pairs may be of different devices.
 *
 * <p>An entry is valid when its sequence number, the last word, is the message's number plus 1. It is one cache line,
 * so that a device writes it in one piece, the last word not before the others.
 */
final class ClearToSend {

    /** Size of an entry, and its alignment. */
    static final int BYTES = 64;

    /** Length of a ring of them. */
    static final int RING_BYTES = RequestRow.REQUESTS * BYTES;

    /** End of what is only for several paths: with one, the entry is written from here on. */
    static final int OF_ONE_PATH = 32;

    /** Address of the message's target: 8 bytes. */
    static final int ADDRESS = 32;

    /** Bytes that fit: 4 bytes. */
    static final int CAPACITY = 40;

    /** NCCL's tag: 4 bytes. */
    static final int TAG = 44;

    /** Number of the message plus 1: 8 bytes, written last. */
    static final int SEQUENCE = 56;

    private static final int FIRST_REMOTE_KEY = 48;

    private ClearToSend() {}

    /** Offset of the entry of a message. */
    static int offset(long sequence) {
        return Requests.slot(sequence) * BYTES;
    }

    /** Offset in an entry of a path's remote key of that memory: 4 bytes. */
    static int remoteKey(int path) {
        return path == 0 ? FIRST_REMOTE_KEY : path * Integer.BYTES;
    }
}
