package trigon.software;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * How many bytes have arrived of each message that comes in pieces. The lane workers add, the responder looks; a message
 * has one of so many slots by its PSN, and the requester never has more of them under way.
 */
final class PieceCounts {

    /** Messages that may be under way. */
    static final int MESSAGES = 256;

    private static final int REFUSED = Integer.MIN_VALUE;

    private final AtomicIntegerArray arrived = new AtomicIntegerArray(MESSAGES);

    /** More of a message is in memory; returns how much there is now, negative if the message is refused. */
    int add(int psn, int bytes) {
        return arrived.addAndGet(psn & (MESSAGES - 1), bytes);
    }

    /** A piece of the message may not be written where it is to go. */
    void refuse(int psn) {
        arrived.set(psn & (MESSAGES - 1), REFUSED);
    }

    /** How much there is of a message; negative if it is refused. */
    int of(int psn) {
        return arrived.get(psn & (MESSAGES - 1));
    }

    /** The message is done. */
    void clear(int psn) {
        arrived.set(psn & (MESSAGES - 1), 0);
    }

    void clearAll() {
        for (int i = 0; i < MESSAGES; i++) {
            arrived.set(i, 0);
        }
    }
}
