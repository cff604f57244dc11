package trigon.transport;

import trigon.verbs.Memory;

/**
 * The outstanding requests of one comm: a ring of slots, used in the order of the requests' sequence numbers. What is known
 * of them is in the comm's row of the {@link CompletionBoard}, which the entry library looks at.
 *
 * <p>Used by the thread that makes the comm's data-path calls, once {@link #open} has given it its row.
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

    private static final int STATE_BITS = 3;
    private static final int STATE_MASK = (1 << STATE_BITS) - 1;

    private long commHandle;

    /** Of the board; 0 before {@link #open}. */
    private long row;

    static int slot(long sequence) {
        return (int) sequence & (SLOTS - 1);
    }

    /** Takes the row of its comm, all slots free. Before the first request. */
    void open(CompletionBoard board, long ofComm) {
        commHandle = ofComm;
        row = board.open(ofComm);
        for (int slot = 0; slot < SLOTS; slot++) {
            putWord(slot, (-1L << STATE_BITS) | FREE);
        }
    }

    /** The sequence number, shifted, with the state in the lower bits. */
    private long word(int slot) {
        return Memory.getLong(CompletionBoard.entry(row, slot) + CompletionBoard.STATE);
    }

    private void putWord(int slot, long word) {
        Memory.putLong(CompletionBoard.entry(row, slot) + CompletionBoard.STATE, word);
    }

    /** As of the last look by {@link #find} or {@link #isFree}, or what has become of it since. */
    int state(int slot) {
        return (int) word(slot) & STATE_MASK;
    }

    private long sequence(int slot) {
        return word(slot) >> STATE_BITS;
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
        return (int) Memory.getLong(CompletionBoard.entry(row, slot) + CompletionBoard.SIZE);
    }

    /** State of the request, not told to be done yet, whose sequence number has these lower bits; FREE: it is not there. */
    int find(int slot, int sequenceLowerBits) {
        long word = word(slot);
        int state = (int) word & STATE_MASK;
        if (state == FORGOTTEN || !RequestHandle.matches(word >> STATE_BITS, sequenceLowerBits)) {
            return FREE;
        }
        return state == DONE ? current(slot) : state;
    }

    /** A new request of that size; returns its handle. */
    long begin(long sequence, int size) {
        int slot = slot(sequence);
        putWord(slot, (sequence << STATE_BITS) | PENDING);
        Memory.putLong(CompletionBoard.entry(row, slot) + CompletionBoard.SIZE, size);
        return RequestHandle.of(commHandle, sequence);
    }

    void setState(int slot, int state) {
        putWord(slot, (word(slot) & ~STATE_MASK) | state);
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
        setState(slot, DONE);
        CompletionBoard.put(row, slot, RequestHandle.of(commHandle, sequence(slot)), size);
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
