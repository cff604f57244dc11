package trigon.transport;

/**
 * The outstanding requests of one comm: a ring of slots, used in the order of the requests' sequence numbers.
 *
 * <p>Allocated once; used by the thread that makes the comm's data-path calls.
 */
final class RequestRing {

    /** Requests that a comm can have outstanding ({@code NCCL_NET_MAX_REQUESTS}). */
    static final int SLOTS = 32;

    /** The slot can be used for a new request. */
    static final int FREE = 0;

    /** Handed to the device. */
    static final int PENDING = 1;

    /** Handed to the device, and NCCL may be told that it is done before it is. */
    static final int OPTIONAL = 2;

    /** NCCL was told that it is done, but the device has not finished it; the slot cannot be used again yet. */
    static final int FORGOTTEN = 5;

    /** The device finished it; NCCL has not asked yet. */
    static final int DONE = 3;

    /** The device failed it. */
    static final int FAILED = 4;

    /** In a {@link CompletionBoard}; 0 as long as nobody has asked for a request. */
    private long row;

    // what is known of a request lies together: with many comms, each cache line that a message touches is a miss
    private static final int WORDS = 2;
    private static final int STATE_BITS = 3;
    private static final int STATE_MASK = (1 << STATE_BITS) - 1;

    /** Of each slot: the sequence number, shifted, with the state in the lower bits; and the size. */
    private final long[] words = new long[SLOTS * WORDS];

    RequestRing() {
        for (int slot = 0; slot < SLOTS; slot++) {
            words[slot * WORDS] = (-1L << STATE_BITS) | FREE;
        }
    }

    static int slot(long sequence) {
        return (int) sequence & (SLOTS - 1);
    }

    /** Has the entry library know what is finished. Before the first request. */
    void showOn(long boardRow) {
        row = boardRow;
    }

    /** As of the last look by {@link #holds} or {@link #isFree}, or what has become of it since. */
    int state(int slot) {
        return (int) words[slot * WORDS] & STATE_MASK;
    }

    private long sequence(int slot) {
        return words[slot * WORDS] >> STATE_BITS;
    }

    boolean isFree(int slot) {
        return current(slot) == FREE;
    }

    private int current(int slot) {
        int state = state(slot);
        if (state == DONE && !CompletionBoard.has(row, slot)) {
            setState(slot, FREE); // the entry library has told NCCL
            return FREE;
        }
        return state;
    }

    int size(int slot) {
        return (int) words[slot * WORDS + 1];
    }

    /** Whether the slot holds the request, not told to be done yet, whose sequence number has these lower bits. */
    boolean holds(int slot, int sequenceLowerBits) {
        int state = current(slot);
        return state != FREE && state != FORGOTTEN && RequestHandle.matches(sequence(slot), sequenceLowerBits);
    }

    void begin(long sequence, int size) {
        int slot = slot(sequence);
        words[slot * WORDS] = (sequence << STATE_BITS) | PENDING;
        words[slot * WORDS + 1] = size;
    }

    void setState(int slot, int state) {
        words[slot * WORDS] = (words[slot * WORDS] & ~STATE_MASK) | state;
    }

    /** NCCL hears that it is done. */
    void take(int slot) {
        CompletionBoard.clear(row, slot);
        setState(slot, FREE);
    }

    /** The device finished it with that many bytes; a forgotten one is free at once. */
    void complete(int slot, int size) {
        if (state(slot) == FORGOTTEN) {
            setState(slot, FREE);
            return;
        }
        words[slot * WORDS + 1] = size;
        setState(slot, DONE);
        CompletionBoard.put(row, slot, sequence(slot), size);
    }

    /** Every request that is not finished has failed. */
    void failUnfinished() {
        for (int slot = 0; slot < SLOTS; slot++) {
            if (state(slot) == PENDING || state(slot) == OPTIONAL) {
                setState(slot, FAILED);
            }
        }
    }
}
