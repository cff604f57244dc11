package trigon.system;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Native memory by address. An address that is not mapped ends the process, as in C: callers pass what they allocated,
 * registered, or got from NCCL and checked for null. Allocates nothing.
 */
public final class Memory {

    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private Memory() {}

    public static byte getByte(long address) {
        return ALL.get(ValueLayout.JAVA_BYTE, address);
    }

    public static void putByte(long address, byte value) {
        ALL.set(ValueLayout.JAVA_BYTE, address, value);
    }

    public static short getShort(long address) {
        return ALL.get(ValueLayout.JAVA_SHORT_UNALIGNED, address);
    }

    public static void putShort(long address, short value) {
        ALL.set(ValueLayout.JAVA_SHORT_UNALIGNED, address, value);
    }

    public static int getInt(long address) {
        return ALL.get(ValueLayout.JAVA_INT_UNALIGNED, address);
    }

    public static void putInt(long address, int value) {
        ALL.set(ValueLayout.JAVA_INT_UNALIGNED, address, value);
    }

    public static void putFloat(long address, float value) {
        ALL.set(ValueLayout.JAVA_FLOAT_UNALIGNED, address, value);
    }

    public static long getLong(long address) {
        return ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
    }

    public static void putLong(long address, long value) {
        ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
    }

    /** Reads an 8-byte word so that reads after it see what was written before it was; aligned addresses only. */
    public static long getLongAcquire(long address) {
        return (long) LONG.getAcquire(ALL, address);
    }

    /** Writes an 8-byte word so that whoever reads it sees all writes before it; aligned addresses only. */
    public static void putLongRelease(long address, long value) {
        LONG.setRelease(ALL, address, value);
    }

    /** The same for a 4-byte word. */
    public static void putIntRelease(long address, int value) {
        INT.setRelease(ALL, address, value);
    }

    /** Writes an 8-byte word in one piece; neither merged with its neighbours nor torn; aligned addresses only. */
    public static void putLongOpaque(long address, long value) {
        LONG.setOpaque(ALL, address, value);
    }

    /** Reads an 8-byte word in one piece, and anew with each call; aligned addresses only. */
    public static long getLongOpaque(long address) {
        return (long) LONG.getOpaque(ALL, address);
    }

    /** Writes a 4-byte word in one piece; aligned addresses only. */
    public static void putIntOpaque(long address, int value) {
        INT.setOpaque(ALL, address, value);
    }

    /** Reads a 4-byte word, in one order with all volatile reads and writes; aligned addresses only. */
    public static int getIntVolatile(long address) {
        return (int) INT.getVolatile(ALL, address);
    }

    /** Writes a 4-byte word, in the same order; aligned addresses only. */
    public static void putIntVolatile(long address, int value) {
        INT.setVolatile(ALL, address, value);
    }

    /** Writes a 4-byte word, in the same order, if it has a value; aligned addresses only. */
    public static void compareAndSetInt(long address, int expected, int value) {
        boolean _ = INT.compareAndSet(ALL, address, expected, value);
    }

    /** Adds to an 8-byte word atomically and returns the value before; aligned addresses only. */
    public static long getAndAddLong(long address, long addend) {
        return (long) LONG.getAndAdd(ALL, address, addend);
    }

    /** Copies memory that may overlap. */
    public static void copy(long from, long to, long bytes) {
        MemorySegment.copy(ALL, from, ALL, to, bytes);
    }

    /** Copies memory to the beginning of a segment. */
    public static void copy(long from, MemorySegment to, long bytes) {
        MemorySegment.copy(ALL, from, to, 0, bytes);
    }

    /** Copies the beginning of a segment to memory; in whole words where both are aligned to them. */
    public static void copy(MemorySegment from, long to, long bytes) {
        MemorySegment.copy(from, 0, ALL, to, bytes);
    }

    /** Sets memory to one byte value. */
    public static void fill(long address, long bytes, byte value) {
        ALL.asSlice(address, bytes).fill(value);
    }

    /** The memory as a segment of unlimited lifetime, for control-path code and I/O. */
    public static MemorySegment segment(long address, long bytes) {
        return ALL.asSlice(address, bytes);
    }
}
