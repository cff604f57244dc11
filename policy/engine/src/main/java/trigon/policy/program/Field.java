package trigon.policy.program;

import trigon.system.Memory;

/**
 * A field of a context: a whole number, read and written in one piece.
 *
 * @param name as in {@code trigon_policy.h}
 * @param offset in bytes, a multiple of the size
 * @param bytes 4 or 8
 * @param direction whether programs may write it
 * @param uniform whether all ranks see the same number in the same call
 * @param min the smallest number a program may write, signed
 * @param max the largest number a program may write, signed
 */
public record Field(String name, int offset, int bytes, Direction direction, boolean uniform, long min, long max) {

    /** The writer of a field. */
    public enum Direction {
        /** The host, for the program to read. */
        INPUT,
        /** The host writes what stands if the program says nothing; the program may read and write it. */
        OUTPUT
    }

    public boolean isOutput() {
        return direction == Direction.OUTPUT;
    }

    /** Writes it into a context; what does not fit is cut off. */
    public void set(long context, long value) {
        if (bytes == Long.BYTES) {
            Memory.putLong(context + offset, value);
        } else {
            Memory.putInt(context + offset, (int) value);
        }
    }

    /** Reads it from a context, sign-extended. */
    public long get(long context) {
        return bytes == Long.BYTES ? Memory.getLong(context + offset) : Memory.getInt(context + offset);
    }
}
