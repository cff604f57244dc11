package trigon.transport.request;

import trigon.system.Memory;
import trigon.transport.handle.RequestHandle;
import trigon.verbs.WorkCompletions;

/**
 * The outstanding requests of one session: a ring of slots, used in the order of the requests' sequence numbers. What
 * is known of them is in the session's {@link RequestRow}, where the entry library looks, and finishes what succeeded.
 *
 * <p>The entry of a request that is finished and that NCCL has not heard of holds the request's handle; who tells NCCL,
 * in Java or in C, clears it.
 *
 * <p>For the thread that makes the session's data-path calls; opened and closed while there are none.
 */
public final class Requests {

    /** The slot can be used for a new request. */
    public static final int FREE = 0;

    /** Handed to the device. The entry library finishes requests that are in this state, and no others. */
    public static final int PENDING = 1;

    /** The device finished it; NCCL has not asked yet. */
    public static final int DONE = 3;

    /** The device failed it. */
    public static final int FAILED = 4;

    private final long row;
    private final long session;
    private final WorkCompletions completions;
    private final LaneFunctions functions;
    private final MemoryTable memories;
    private final Gate gate;
    private final boolean lane;

    Requests(
            long row,
            long session,
            WorkCompletions completions,
            LaneFunctions functions,
            MemoryTable memories,
            boolean lane) {
        this.row = row;
        this.session = session;
        this.completions = completions;
        this.functions = functions;
        this.memories = memories;
        this.lane = lane;
        gate = new Gate(row);
    }

    /** No request, and a lane that moves nothing. */
    void reset() {
        close();
        Memory.fill(row, RequestRow.BYTES, (byte) 0);
        Memory.putLong(row + RequestRow.COMPLETIONS, completions.address());
        gate.reset();
        Memory.putLongRelease(row + RequestRow.HANDLE, session);
    }

    /** The session is being closed: nothing is found in its row any more. */
    public void close() {
        Memory.putLongRelease(row + RequestRow.HANDLE, 0);
        for (int slot = 0; slot < RequestRow.REQUESTS; slot++) {
            clear(slot);
        }
    }

    public WorkCompletions completions() {
        return completions;
    }

    public long session() {
        return session;
    }

    /** Address of the row. */
    public long row() {
        return row;
    }

    // ---- a request's life

    /** The slot of a message's request. */
    public static int slot(long sequence) {
        return (int) sequence & (RequestRow.REQUESTS - 1);
    }

    /** A new request of that size, in a slot that is free; returns its handle. */
    public long begin(long sequence, int size) {
        long request = RequestHandle.of(session, sequence);
        set(slot(sequence), request, size, PENDING);
        return request;
    }

    /** Tells whether a slot can be used for a new request. */
    public boolean isFree(int slot) {
        return current(slot) == FREE;
    }

    /** The state of a request, if NCCL has not been told that it is done; {@link #FREE}: it is not there. */
    public int find(int slot, long request) {
        return Memory.getLong(entry(slot) + RequestRow.REQUEST) == request ? current(slot) : FREE;
    }

    private int current(int slot) {
        int state = state(slot);
        if (state == DONE && Memory.getLong(entry(slot) + RequestRow.FINISHED) == 0) {
            setState(slot, FREE); // the entry library has told NCCL
            return FREE;
        }
        return state;
    }

    /** As of the last look by {@link #find} or {@link #isFree}, or what has become of it since. */
    public int state(int slot) {
        return (int) Memory.getLong(entry(slot) + RequestRow.STATE);
    }

    /** Bytes of the request's message, or what was asked for as long as it is not finished. */
    public int size(int slot) {
        return (int) Memory.getLong(entry(slot) + RequestRow.SIZE);
    }

    /** Bytes of all requests from one message's up to another's. */
    public long bytes(long from, long end) {
        long bytes = 0;
        for (long sequence = from; sequence < end; sequence++) {
            bytes += size(slot(sequence));
        }
        return bytes;
    }

    /** The device finished it with that many bytes. */
    public void complete(int slot, int size) {
        setState(slot, DONE);
        show(slot, Memory.getLong(entry(slot) + RequestRow.REQUEST), size);
    }

    /** The oldest request that is not finished is, with that many bytes: where requests are finished in their order. */
    public void completeNext(int size) {
        int completed = completed();
        complete(slot(completed), size);
        Memory.putInt(row + RequestRow.COMPLETED, completed + 1);
    }

    /** All requests before that message's are finished: {@link #completeNext} goes on there. */
    public void completeFrom(long sequence) {
        Memory.putInt(row + RequestRow.COMPLETED, (int) sequence);
    }

    /** Returns how many requests {@link #completeNext} and the entry library have finished, modulo 2^32. */
    public int completed() {
        return Memory.getInt(row + RequestRow.COMPLETED);
    }

    /** NCCL hears that it is done. */
    public void take(int slot) {
        clear(slot);
        setState(slot, FREE);
    }

    /** Every request that is not finished has failed, and the library is not to answer for the session any more. */
    public void failUnfinished() {
        for (int slot = 0; slot < RequestRow.REQUESTS; slot++) {
            if (state(slot) == PENDING) {
                setState(slot, FAILED);
            }
        }
        Memory.putInt(row + RequestRow.POLLED, 0);
    }

    /** The library may tell NCCL that a request is done. */
    public void show(int slot, long request, int size) {
        Memory.putLong(entry(slot) + RequestRow.SIZE, size);
        // a control thread may do this while the library looks
        Memory.putLongRelease(entry(slot) + RequestRow.FINISHED, request);
    }

    private void clear(int slot) {
        Memory.putLong(entry(slot) + RequestRow.FINISHED, 0);
    }

    private void set(int slot, long request, int size, int state) {
        Memory.putLong(entry(slot) + RequestRow.REQUEST, request);
        Memory.putLong(entry(slot) + RequestRow.SIZE, size);
        setState(slot, state);
    }

    private void setState(int slot, int state) {
        Memory.putLong(entry(slot) + RequestRow.STATE, state);
    }

    private long entry(int slot) {
        return row + slot * RequestRow.ENTRY_BYTES;
    }

    // ---- what the entry library has left to Java

    /**
     * Returns what the library's last poll returned, unless Java has taken it or Java need not: then 0, and the library
     * may poll again. The first {@link #taken} of its completions are accounted for.
     */
    public int takePolled() {
        int count = Memory.getInt(row + RequestRow.POLLED);
        if (count != 0) {
            Memory.putInt(row + RequestRow.POLLED, 0);
        }
        return count;
    }

    /** Completions of that poll that are accounted for. */
    public int taken() {
        return Memory.getShort(row + RequestRow.TAKEN);
    }

    // ---- whose they are

    /** Keeps out who moves the session's messages while another one moves the session. */
    public Gate gate() {
        return gate;
    }

    /** Tells whether the entry library may move the session's messages where its lane can. */
    public boolean hasLane() {
        return lane;
    }

    /** The library's functions for the session's lane. */
    public LaneFunctions functions() {
        return functions;
    }

    /** Registered memory, as the library finds it. */
    public MemoryTable memories() {
        return memories;
    }

    /** A number for the calling thread, the same each time, whichever side asks. */
    public long callingThread() {
        return functions.thread();
    }

    /** The thread of the session's first request, or of who {@linkplain #setThread said so} since; 0: none so far. */
    public long thread() {
        return Memory.getLongOpaque(row + RequestRow.THREAD);
    }

    /** The calling thread is the session's from now on. */
    public void setThread() {
        Memory.putLongOpaque(row + RequestRow.THREAD, callingThread());
    }
}
