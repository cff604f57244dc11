package trigon.stream.hop;

/**
 * The receive slots of one direction of a hop.
 *
 * @param slots how many chunks may be on their way or wait; 1 to {@link #MAX_SLOTS}
 * @param slotBytes the longest chunk, in bytes; {@link #MIN_BYTES} to {@link #MAX_BYTES}
 */
public record SlotGeometry(int slots, int slotBytes) {

    static final int MAX_SLOTS = 64;
    static final int MIN_BYTES = 256;
    static final int MAX_BYTES = 64 << 10;

    /** Slots are made shorter by this factor at most: chunks of 4 KiB still cost less than TCP does. */
    private static final int MAX_SHRINKING = 16;

    /** Towards the end that receives messages: 42 us at 100 Gbit/s. */
    public static final SlotGeometry FORWARD = new SlotGeometry(8, MAX_BYTES);

    /** For acknowledgements. */
    public static final SlotGeometry BACK = new SlotGeometry(8, 4 << 10);

    public SlotGeometry {
        if (!isSane(slots, slotBytes)) {
            throw new IllegalArgumentException(slots + " slots of " + slotBytes + " bytes are out of bounds");
        }
    }

    static boolean isSane(int slots, int slotBytes) {
        return slots >= 1 && slots <= MAX_SLOTS && slotBytes >= MIN_BYTES && slotBytes <= MAX_BYTES;
    }

    /** Posted receives: one for each slot, and {@link ChunkWindow#CREDIT_MESSAGES} for credits that travel alone. */
    int receives() {
        return slots + ChunkWindow.CREDIT_MESSAGES;
    }

    /** As many slots, halved in length until they take so many bytes at most, or are a sixteenth as long. */
    SlotGeometry within(long mostBytes) {
        int least = Math.max(MIN_BYTES, slotBytes / MAX_SHRINKING);
        SlotGeometry shorter = this;
        while (shorter.bytes() > mostBytes && shorter.slotBytes / 2 >= least) {
            shorter = new SlotGeometry(slots, shorter.slotBytes / 2);
        }
        return shorter;
    }

    /** Memory of the slots, and of the receives that only credits are to take. */
    long bytes() {
        return (long) receives() * slotBytes;
    }
}
