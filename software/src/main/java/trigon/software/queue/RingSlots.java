package trigon.software.queue;

/** Two ints in a long: how the rings keep small fields. */
public final class RingSlots {

    private RingSlots() {}

    /** Two ints as one long; {@link #high} and {@link #low} are the way back. */
    public static long pack(int high, int low) {
        return (long) high << Integer.SIZE | Integer.toUnsignedLong(low);
    }

    public static int high(long word) {
        return (int) (word >>> Integer.SIZE);
    }

    public static int low(long word) {
        return (int) word;
    }

    /** The least power of two that is not below {@code count}. */
    static int powerOfTwo(int count) {
        return count <= 1 ? 1 : Integer.highestOneBit(count - 1) << 1;
    }
}
