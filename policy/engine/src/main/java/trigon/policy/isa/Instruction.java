package trigon.policy.isa;

/**
 * One instruction. Jumps count in slots of 8 bytes from the slot after their own; registers are numbers from 0 to 10. A
 * load of 64 bits takes two slots, the second is {@link SecondHalf}.
 */
public sealed interface Instruction {

    /** Arithmetic on 64 bits, or on the low 32 with the high ones cleared. */
    record Alu(AluOperation operation, boolean wide, int destination, Operand operand) implements Instruction {}

    /** {@code MOVSX}: the low bits of a register, sign-extended to 64 bits, or to 32 with the high ones cleared. */
    record MoveSignExtended(boolean wide, int destination, int source, int bits) implements Instruction {}

    /** Byte order of the low 16, 32 or 64 bits; the bits above are cleared. */
    record ByteOrder(int destination, int bits, Swap swap) implements Instruction {}

    /** The effect of {@link ByteOrder} on a little-endian host. */
    enum Swap {
        /** {@code le16}, {@code le32}, {@code le64}: only clears the bits above. */
        TO_LITTLE_ENDIAN,
        /** {@code be16}, {@code be32}, {@code be64}. */
        TO_BIG_ENDIAN,
        /** {@code bswap16}, {@code bswap32}, {@code bswap64}. */
        ALWAYS
    }

    /** Reads 1, 2, 4 or 8 bytes, zero-extended or sign-extended. */
    record Load(int destination, int base, int offset, int bytes, boolean signed) implements Instruction {}

    /** Writes 1, 2, 4 or 8 bytes. */
    record Store(int base, int offset, int bytes, Operand value) implements Instruction {}

    /** Changes 4 or 8 bytes atomically; with {@code fetch}, the source register (or r0) takes the value before. */
    record Atomic(AtomicOperation operation, boolean fetch, int base, int offset, int bytes, int source)
            implements Instruction {}

    /** A constant of 64 bits. */
    record LoadConstant(int destination, long value) implements Instruction {}

    /** The map with an index in the object's list. */
    record LoadMap(int destination, int map) implements Instruction {}

    /** An address within the first value of a map: a global variable. */
    record LoadMapValue(int destination, int map, int offset) implements Instruction {}

    /** Jumps without a condition. */
    record Jump(int offset) implements Instruction {}

    /** Jumps if the comparison holds; of 64 bits, or of the low 32. */
    record Branch(Comparison comparison, boolean wide, int left, Operand right, int offset) implements Instruction {}

    /** Calls what the host offers. */
    record CallHelper(int helper) implements Instruction {}

    /** Calls the function with an index in the object's list. */
    record CallFunction(int function) implements Instruction {}

    /** Ends the function, which returns r0. */
    record Exit() implements Instruction {}

    /** The second slot of a load of 64 bits; never executed. */
    record SecondHalf() implements Instruction {}
}
