package trigon.software.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import trigon.verbs.WorkCompletions;

/**
 * Completions on their way from whoever moves data, any number of threads, to the one that polls. Preallocated; no
 * side locks or allocates. A slot is filled once it holds the number of its completion, counted from 1.
 */
public final class CompletionRing {

    private static final int STRIDE = 5;
    private static final int NUMBER = 4;
    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] slots;
    private final int mask;
    private final PaddedCounter head = new PaddedCounter();
    private final PaddedCounter tail = new PaddedCounter();

    /** A ring for at least that many completions. */
    public CompletionRing(int entries) {
        int capacity = RingSlots.powerOfTwo(entries);
        slots = new long[capacity * STRIDE];
        mask = capacity - 1;
    }

    public int capacity() {
        return mask + 1;
    }

    /** Adds one; false if the ring is full. */
    public boolean offer(
            long workRequestId, int status, int opcode, int byteLength, int immediate, int flags, int queuePairNumber) {
        long index;
        do {
            index = tail.getVolatile();
            if (index - head.getAcquire() > mask) {
                return false;
            }
        } while (!tail.compareAndSet(index, index + 1));
        int at = ((int) index & mask) * STRIDE;
        slots[at] = workRequestId;
        slots[at + 1] = RingSlots.pack(status, opcode);
        slots[at + 2] = RingSlots.pack(byteLength, immediate);
        slots[at + 3] = RingSlots.pack(flags, queuePairNumber);
        SLOT.setRelease(slots, at + NUMBER, index + 1);
        return true;
    }

    /** Moves the oldest completions into the batch; returns how many. */
    public int drain(WorkCompletions into) {
        long from = head.get();
        int count = 0;
        for (int i = 0; i < into.capacity(); i++) {
            int at = ((int) (from + i) & mask) * STRIDE;
            if ((long) SLOT.getAcquire(slots, at + NUMBER) != from + i + 1) {
                break;
            }
            count++;
            long outcome = slots[at + 1];
            long payload = slots[at + 2];
            long origin = slots[at + 3];
            into.set(
                    i,
                    slots[at],
                    RingSlots.high(outcome),
                    RingSlots.low(outcome),
                    RingSlots.high(payload),
                    RingSlots.low(payload),
                    RingSlots.high(origin),
                    RingSlots.low(origin));
        }
        if (count > 0) {
            head.setRelease(from + count);
        }
        return count;
    }
}
