package trigon.transport;

import java.util.Arrays;

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

    private final int[] states = new int[SLOTS];
    private final long[] sequences = new long[SLOTS];
    private final int[] sizes = new int[SLOTS];

    RequestRing() {
        Arrays.fill(sequences, -1);
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
        return states[slot];
    }

    boolean isFree(int slot) {
        return current(slot) == FREE;
    }

    private int current(int slot) {
        int state = states[slot];
        if (state == DONE && !CompletionBoard.has(row, slot)) {
            states[slot] = FREE; // the entry library has told NCCL
            return FREE;
        }
        return state;
    }

    int size(int slot) {
        return sizes[slot];
    }

    /** Whether the slot holds the request, not told to be done yet, whose sequence number has these lower bits. */
    boolean holds(int slot, int sequenceLowerBits) {
        int state = current(slot);
        return state != FREE && state != FORGOTTEN && RequestHandle.matches(sequences[slot], sequenceLowerBits);
    }

    void begin(long sequence, int size) {
        int slot = slot(sequence);
        states[slot] = PENDING;
        sequences[slot] = sequence;
        sizes[slot] = size;
    }

    void setState(int slot, int state) {
        states[slot] = state;
    }

    /** NCCL hears that it is done. */
    void take(int slot) {
        CompletionBoard.clear(row, slot);
        states[slot] = FREE;
    }

    /** The device finished it with that many bytes; a forgotten one is free at once. */
    void complete(int slot, int size) {
        if (states[slot] == FORGOTTEN) {
            states[slot] = FREE;
            return;
        }
        sizes[slot] = size;
        states[slot] = DONE;
        CompletionBoard.put(row, slot, sequences[slot], size);
    }

    /** Every request that is not finished has failed. */
    void failUnfinished() {
        for (int slot = 0; slot < SLOTS; slot++) {
            if (states[slot] == PENDING || states[slot] == OPTIONAL) {
                states[slot] = FAILED;
            }
        }
    }
}
