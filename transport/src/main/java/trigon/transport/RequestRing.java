package trigon.transport;

import trigon.verbs.Memory;

/**
 * The outstanding requests of one comm: a ring of slots, used in the order of the requests' sequence numbers. What is known
 * of them is in the comm's row of the {@link CompletionBoard}, where the entry library looks, and finishes what succeeded.
 *
 * <p>Functions of a row's address, since with many comms an object for it would be one more cache line to fetch. For the
 * thread that makes the comm's data-path calls.
 */
final class RequestRing {

    /** Requests that a comm can have outstanding ({@code NCCL_NET_MAX_REQUESTS}). */
    static final int SLOTS = 32;

    /** The slot can be used for a new request. */
    static final int FREE = 0;

    /** Handed to the device. */
    static final int PENDING = CompletionBoard.PENDING;

    /** The device finished it; NCCL has not asked yet. */
    static final int DONE = CompletionBoard.DONE;

    /** The device failed it. */
    static final int FAILED = 4;

    private RequestRing() {}

    static int slot(long sequence) {
        return (int) sequence & (SLOTS - 1);
    }

    /** All slots of the row of a new comm are free. */
    static void open(long row) {
        for (int slot = 0; slot < SLOTS; slot++) {
            begin(row, slot, 0, 0);
            setState(row, slot, FREE);
        }
        Memory.putInt(row + CompletionBoard.COMPLETED, 0);
    }

    /** How many requests {@link #completeNext} and the entry library have finished, modulo 2^32. */
    static int completed(long row) {
        return Memory.getInt(row + CompletionBoard.COMPLETED);
    }

    /** The device finished the oldest request that it had, with that many bytes: where requests are finished in their order. */
    static void completeNext(long row, int size) {
        int completed = completed(row);
        complete(row, slot(completed), size);
        Memory.putInt(row + CompletionBoard.COMPLETED, completed + 1);
    }

    /** As of the last look by {@link #find} or {@link #isFree}, or what has become of it since. */
    static int state(long row, int slot) {
        return (int) Memory.getLong(CompletionBoard.entry(row, slot) + CompletionBoard.STATE);
    }

    static boolean isFree(long row, int slot) {
        return current(row, slot) == FREE;
    }

    private static int current(long row, int slot) {
        int state = state(row, slot);
        if (state == DONE && !CompletionBoard.has(row, slot)) {
            setState(row, slot, FREE); // the entry library has told NCCL
            return FREE;
        }
        return state;
    }

    static int size(long row, int slot) {
        return (int) Memory.getLong(CompletionBoard.entry(row, slot) + CompletionBoard.SIZE);
    }

    /** The state of a request, if NCCL has not been told that it is done; FREE: it is not there. */
    static int find(long row, int slot, long request) {
        if (Memory.getLong(CompletionBoard.entry(row, slot) + CompletionBoard.REQUEST) != request) {
            return FREE;
        }
        return current(row, slot);
    }

    /** A new request of that handle and size. */
    static void begin(long row, int slot, long request, int size) {
        long entry = CompletionBoard.entry(row, slot);
        Memory.putLong(entry + CompletionBoard.REQUEST, request);
        Memory.putLong(entry + CompletionBoard.SIZE, size);
        setState(row, slot, PENDING);
    }

    static void setState(long row, int slot, int state) {
        Memory.putLong(CompletionBoard.entry(row, slot) + CompletionBoard.STATE, state);
    }

    /** NCCL hears that it is done. */
    static void take(long row, int slot) {
        CompletionBoard.clear(row, slot);
        setState(row, slot, FREE);
    }

    /** The device finished it with that many bytes. */
    static void complete(long row, int slot, int size) {
        long entry = CompletionBoard.entry(row, slot);
        Memory.putLong(entry + CompletionBoard.SIZE, size);
        setState(row, slot, DONE);
        CompletionBoard.show(row, slot, Memory.getLong(entry + CompletionBoard.REQUEST));
    }

    /** Every request that is not finished has failed. */
    static void failUnfinished(long row) {
        for (int slot = 0; slot < SLOTS; slot++) {
            if (state(row, slot) == PENDING) {
                setState(row, slot, FAILED);
            }
        }
    }
}
