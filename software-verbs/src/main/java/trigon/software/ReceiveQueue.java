package trigon.software;

import trigon.verbs.Errno;

/**
 * The receive work requests of a queue pair: a preallocated ring which one posting thread fills, and which is emptied
 * under the queue pair's lock, oldest first.
 */
final class ReceiveQueue {

    private static final int STRIDE = 3;

    private final long[] slots;
    private final int mask;
    private final int capacity;
    private final PaddedIndex head = new PaddedIndex();
    private final PaddedIndex tail = new PaddedIndex();

    /** A ring for at least that many requests; none if it is 0. */
    ReceiveQueue(int workRequests) {
        int size = Words.powerOfTwo(workRequests);
        slots = new long[size * STRIDE];
        mask = size - 1;
        capacity = workRequests == 0 ? 0 : size;
    }

    /** Adds a request; 0, or ENOMEM if the ring is full. The posting thread. */
    int offer(long workRequestId, long localAddress, int length, int localKey) {
        long index = tail.get();
        if (index - head.getAcquire() >= capacity) {
            return Errno.ENOMEM;
        }
        int at = slot(index);
        slots[at] = workRequestId;
        slots[at + 1] = localAddress;
        slots[at + 2] = Words.pack(length, localKey);
        tail.setVolatile(index + 1);
        return 0;
    }

    // ---- any thread

    int slots() {
        return mask + 1;
    }

    /** The index of the oldest request; it counts requests since the queue was made. */
    long head() {
        return head.getAcquire();
    }

    /** One past the index of the newest request. */
    long tail() {
        return tail.getVolatile();
    }

    /** Of a request that is in the queue, as long as it is. */
    long localAddress(long index) {
        return slots[slot(index) + 1];
    }

    int length(long index) {
        return Words.high(slots[slot(index) + 2]);
    }

    int localKey(long index) {
        return Words.low(slots[slot(index) + 2]);
    }

    // ---- under the queue pair's lock; the accessors are of the oldest request

    boolean isEmpty() {
        return head.get() == tail.getVolatile();
    }

    long workRequestId() {
        return slots[slot(head.get())];
    }

    long localAddress() {
        return localAddress(head.get());
    }

    int length() {
        return length(head.get());
    }

    int localKey() {
        return localKey(head.get());
    }

    /** Drops the oldest request. */
    void remove() {
        head.setRelease(head.get() + 1);
    }

    /** Drops all of them. */
    void clear() {
        head.setRelease(tail.getVolatile());
    }

    private int slot(long index) {
        return ((int) index & mask) * STRIDE;
    }
}
