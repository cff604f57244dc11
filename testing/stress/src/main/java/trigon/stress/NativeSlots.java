package trigon.stress;

import java.lang.foreign.Arena;
import java.util.concurrent.atomic.AtomicLong;
import trigon.system.Memory;

/**
 * Native memory for the states of a test, in turns: a state has its slot to itself until so many others have been made
 * since, which is more than JCStress has in use at a time. Freed with the process.
 */
public final class NativeSlots {

    private static final int SLOTS = 1 << 16;

    private final int bytes;
    private final long address;
    private final AtomicLong taken = new AtomicLong();

    /** Slots of that length, a power of two, aligned to it. */
    public NativeSlots(int bytes) {
        this.bytes = bytes;
        address = Arena.global().allocate((long) SLOTS * bytes, bytes).address();
    }

    /** The next one, filled with zeros. */
    public long take() {
        long slot = address + taken.getAndIncrement() % SLOTS * bytes;
        Memory.fill(slot, bytes, (byte) 0);
        return slot;
    }
}
