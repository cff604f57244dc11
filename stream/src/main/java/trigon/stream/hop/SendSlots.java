package trigon.stream.hop;

import java.nio.ByteBuffer;
import trigon.system.Memory;
import trigon.verbs.MemoryRegion;

/** Slots to write from, used in turn: one is free again once as many sends have completed as there are slots. */
final class SendSlots {

    private final MemoryRegion region;
    private final ByteBuffer memory;
    private final int slots;
    private final int slotBytes;
    private int next;

    /** Slots in registered memory. */
    SendSlots(MemoryRegion region, int slots, int slotBytes) {
        this.region = region;
        this.slots = slots;
        this.slotBytes = slotBytes;
        memory = Memory.segment(region.address(), region.length()).asByteBuffer();
    }

    /** Copies so many bytes into the next slot, at that offset. */
    void copy(ByteBuffer from, int bytes, int at) {
        int to = next * slotBytes + at;
        int limit = from.limit();
        from.limit(from.position() + bytes);
        memory.limit(to + bytes).position(to);
        memory.put(from);
        from.limit(limit);
    }

    /** Takes the next slot; its number. */
    int take() {
        int taken = next;
        next = taken + 1 == slots ? 0 : taken + 1;
        return taken;
    }

    long address(int slot) {
        return region.address() + (long) slot * slotBytes;
    }

    int localKey() {
        return region.localKey();
    }
}
