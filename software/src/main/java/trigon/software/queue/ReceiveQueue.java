package trigon.software.queue;

import trigon.system.Errno;

/**
 * The receive work requests of a queue pair: a preallocated ring which one posting thread fills, and which is emptied
 * under the queue pair's lock, oldest first.
 */
public final class ReceiveQueue {

    private static final int STRIDE = 3;

    private final long[] slots;
    private final int mask;
    private final int capacity;
    private final PaddedCounter head = new PaddedCounter();
    private final PaddedCounter tail = new PaddedCounter();

    /** A ring for at least that many requests; none if it is 0. */
    public ReceiveQueue(int workRequests) {
        int size = RingSlots.powerOfTwo(workRequests);
        slots = new long[size * STRIDE];
        mask = size - 1;
        capacity = workRequests == 0 ? 0 : size;
    }

    /** Adds a request; 0, or ENOMEM if the ring is full. The posting thread. */
    public int offer(long workRequestId, long localAddress, int length, int localKey) {
        long index = tail.get();
        if (index - head.getAcquire() >= capacity) {
            return Errno.ENOMEM;
        }
        int at = slot(index);
        slots[at] = workRequestId;
        slots[at + 1] = localAddress;
        slots[at + 2] = RingSlots.pack(length, localKey);
        tail.setVolatile(index + 1);
        return 0;
    }

    // ---- any thread

    /** Returns whether there is none; stale by the time it is known, but under the queue pair's lock. */
    public boolean isEmpty() {
        return head.getAcquire() == tail.getVolatile();
    }

    // ---- under the queue pair's lock; the accessors are of the oldest request

    public long workRequestId() {
        return slots[slot(head.get())];
    }

    public long localAddress() {
        return slots[slot(head.get()) + 1];
    }

    public int length() {
        return RingSlots.high(slots[slot(head.get()) + 2]);
    }

    public int localKey() {
        return RingSlots.low(slots[slot(head.get()) + 2]);
    }

    /** Drops the oldest request. */
    public void remove() {
        head.setRelease(head.get() + 1);
    }

    /** Drops all of them. */
    public void clear() {
        head.setRelease(tail.getVolatile());
    }

    private int slot(long index) {
        return ((int) index & mask) * STRIDE;
    }
}
