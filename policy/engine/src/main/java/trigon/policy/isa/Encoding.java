package trigon.policy.isa;

/**
 * A slot of 8 bytes as a number, little endian: opcode in bits 0 to 7, destination 8 to 11, source 12 to 15, offset
 * 16 to 31, immediate 32 to 63 (RFC 9669 section 3).
 */
public final class Encoding {

    /** Opcode of the one instruction of two slots, {@code lddw}. */
    public static final int LOAD_CONSTANT = 0x18;

    public static final int CALL = 0x85;
    /** Source of {@code lddw}: the immediate is the index of a map. */
    public static final int SOURCE_MAP = 1;
    /** Source of {@code lddw}: an index of a map, and in the second slot an offset within its first value. */
    public static final int SOURCE_MAP_VALUE = 2;
    /** Source of a call: the immediate is the index of a function, instead of a helper's number. */
    public static final int SOURCE_FUNCTION = 1;

    private Encoding() {}

    /** Puts a slot together; what does not fit is cut off. */
    public static long slot(int opcode, int destination, int source, int offset, int immediate) {
        return (opcode & 0xffL)
                | (destination & 0xfL) << 8
                | (source & 0xfL) << 12
                | (offset & 0xffffL) << 16
                | (long) immediate << 32;
    }

    public static int opcode(long slot) {
        return (int) slot & 0xff;
    }

    public static int destination(long slot) {
        return (int) (slot >> 8) & 0xf;
    }

    public static int source(long slot) {
        return (int) (slot >> 12) & 0xf;
    }

    public static int offset(long slot) {
        return (short) (slot >> 16);
    }

    public static int immediate(long slot) {
        return (int) (slot >> 32);
    }

    /** The same slot with another source and immediate. */
    public static long relocated(long slot, int source, int immediate) {
        return slot(opcode(slot), destination(slot), source, offset(slot), immediate);
    }
}
