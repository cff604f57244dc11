package trigon.stream.hop;

/** The chunks that have come on a stream and are not used up, in their order: a ring that allocates nothing. */
final class ArrivedChunks {

    private final int[] slots;
    private final int[] lengths;
    private final boolean[] ends;
    private int first;
    private int count;
    private int offset;

    /** Room for so many. */
    ArrivedChunks(int most) {
        slots = new int[most];
        lengths = new int[most];
        ends = new boolean[most];
    }

    void add(int slot, int length, boolean end) {
        int at = (first + count) % slots.length;
        slots[at] = slot;
        lengths[at] = length;
        ends[at] = end;
        count++;
    }

    boolean has() {
        return count > 0;
    }

    /** Returns whether the first says that there are no more; it has no bytes. */
    boolean isEnd() {
        return ends[first];
    }

    /** The slot of the first. */
    int slot() {
        return slots[first];
    }

    /** Bytes of the first that are used up. */
    int offset() {
        return offset;
    }

    /** Bytes of the first that are left. */
    int left() {
        return lengths[first] - offset;
    }

    /** So much more of the first is used up; whether that is all of it. */
    boolean advance(int bytes) {
        offset += bytes;
        return offset == lengths[first];
    }

    /** Takes out the first; its slot. */
    int remove() {
        int slot = slots[first];
        first = (first + 1) % slots.length;
        count--;
        offset = 0;
        return slot;
    }
}
