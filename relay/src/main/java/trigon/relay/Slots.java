package trigon.relay;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/** The slots of all circuits: memory outside the heap, taken in slabs as circuits come, and used again. */
final class Slots {

    private static final int SLAB_SLOTS = 32;

    private final ArrayDeque<ByteBuffer> free = new ArrayDeque<>();
    private final int most;
    private int made;

    /** So many at most. */
    Slots(int most) {
        this.most = most;
    }

    /** An empty one; the caller has counted that there is one. */
    ByteBuffer take() {
        if (free.isEmpty()) {
            int slots = Math.min(SLAB_SLOTS, most - made);
            ByteBuffer slab = ByteBuffer.allocateDirect(slots * RelayLimits.SLOT_BYTES);
            for (int i = 0; i < slots; i++) {
                free.add(slab.slice(i * RelayLimits.SLOT_BYTES, RelayLimits.SLOT_BYTES));
            }
            made += slots;
        }
        return free.removeLast().clear();
    }

    /** It is not used any more. */
    void give(ByteBuffer slot) {
        free.addLast(slot);
    }

    /** Bytes of all of them, free or not. */
    long bytes() {
        return (long) made * RelayLimits.SLOT_BYTES;
    }
}
