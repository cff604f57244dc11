package trigon.software;

/** Two ints in a long: how the rings keep small fields. */
final class Words {

    private Words() {}

    static long pack(int high, int low) {
        return (long) high << Integer.SIZE | Integer.toUnsignedLong(low);
    }

    static int high(long word) {
        return (int) (word >>> Integer.SIZE);
    }

    static int low(long word) {
        return (int) word;
    }

    /** The least power of two that is not below {@code count}. */
    static int powerOfTwo(int count) {
        return count <= 1 ? 1 : Integer.highestOneBit(count - 1) << 1;
    }
}
