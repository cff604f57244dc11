package trigon.software.lanes;

import java.util.concurrent.atomic.AtomicIntegerArray;
import trigon.software.wire.WireFormat;

/**
 * How many bytes have been given to the sockets of each message that goes in pieces. The lane workers add, the
 * requester looks; a message has one of so many slots by its PSN, and the requester never has more of them under way.
 */
public final class SentPieces {

    /** Messages that may be under way. */
    public static final int MESSAGES = 256;

    private final AtomicIntegerArray sent = new AtomicIntegerArray(MESSAGES);

    /** More of a message is with a socket, by its {@link WireFormat#weight}; returns how much there is now. */
    int add(int psn, int weight) {
        return sent.addAndGet(psn & (MESSAGES - 1), weight);
    }

    int of(int psn) {
        return sent.get(psn & (MESSAGES - 1));
    }

    /** The message is done. */
    void clear(int psn) {
        sent.set(psn & (MESSAGES - 1), 0);
    }

    void clearAll() {
        for (int i = 0; i < MESSAGES; i++) {
            sent.set(i, 0);
        }
    }
}
