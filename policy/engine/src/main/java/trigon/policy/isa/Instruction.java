package trigon.policy.isa;

/**
 * One instruction. Jumps count in slots of 8 bytes from the slot after their own; registers are numbers from 0 to 10. A
 * load of 64 bits takes two slots, the second is {@link SecondHalf}.
 */
public sealed interface Instruction {

    /**
     * The instruction in the notation of {@code llvm-objdump}; jumps name the slot they go to.
     *
     * @param slot place of the instruction in its function
     */
    default String text(int slot) {
        return switch (this) {
            case Alu a -> alu(a);
            case MoveSignExtended m ->
                "%s = (s%d)%s".formatted(register(m.destination(), m.wide()), m.bits(), register(m.source(), m.wide()));
            case ByteOrder b -> {
                String how = switch (b.swap()) {
                    case TO_LITTLE_ENDIAN -> "le";
                    case TO_BIG_ENDIAN -> "be";
                    case ALWAYS -> "bswap";
                };
                yield "r%d = %s%d r%d".formatted(b.destination(), how, b.bits(), b.destination());
            }
            case Load l ->
                "r%d = %s".formatted(l.destination(), memory(l.base(), l.offset(), l.bytes(), l.signed() ? "s" : "u"));
            case Store s -> "%s = %s".formatted(memory(s.base(), s.offset(), s.bytes(), "u"), s.value());
            case Atomic a ->
                "%slock %s %s= r%d"
                        .formatted(
                                a.fetch() ? "fetch " : "",
                                memory(a.base(), a.offset(), a.bytes(), "u"),
                                a.operation(),
                                a.source());
            case LoadConstant l -> "r%d = %d ll".formatted(l.destination(), l.value());
            case LoadMap l -> "r%d = map %d".formatted(l.destination(), l.map());
            case LoadMapValue l -> "r%d = &map %d[0] + %d".formatted(l.destination(), l.map(), l.offset());
            case Jump j -> "goto " + (slot + 1 + j.offset());
            case Branch b ->
                "if %s %s %s goto %d"
                        .formatted(
                                register(b.left(), b.wide()),
                                b.comparison().symbol(),
                                operand(b.right(), b.wide()),
                                slot + 1 + b.offset());
            case CallHelper c -> "call " + c.helper();
            case CallFunction c -> "call function " + c.function();
            case Exit _ -> "exit";
            case SecondHalf _ -> "(second half)";
        };
    }

    private static String alu(Alu a) {
        String left = register(a.destination(), a.wide());
        if (a.operation() == AluOperation.NEGATE) {
            return left + " = -" + left;
        }
        return left + " " + a.operation().symbol() + " " + operand(a.operand(), a.wide());
    }

    private static String memory(int base, int offset, int bytes, String sign) {
        return "*(%s%d *)(r%d %s %d)".formatted(sign, bytes * 8, base, offset < 0 ? "-" : "+", Math.abs(offset));
    }

    private static String operand(Operand operand, boolean wide) {
        return operand instanceof Operand.Register(int number) ? register(number, wide) : operand.toString();
    }

    private static String register(int number, boolean wide) {
        return (wide ? "r" : "w") + number;
    }

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

    /** Arithmetic and logic, RFC 9669 section 4.1. */
    enum AluOperation {
        ADD("+="),
        SUBTRACT("-="),
        MULTIPLY("*="),
        /** Unsigned; by zero gives zero. */
        DIVIDE("/="),
        /** Signed; by zero gives zero, the smallest number by -1 gives itself. */
        DIVIDE_SIGNED("s/="),
        OR("|="),
        AND("&="),
        /** Shifts use as many low bits of the operand as the width needs. */
        SHIFT_LEFT("<<="),
        SHIFT_RIGHT(">>="),
        SHIFT_RIGHT_ARITHMETIC("s>>="),
        /** Has no operand. */
        NEGATE("= -"),
        /** Unsigned; by zero leaves the destination as it is. */
        MODULO("%="),
        /** Signed, sign of the dividend; by zero leaves the destination as it is. */
        MODULO_SIGNED("s%="),
        XOR("^="),
        MOVE("=");

        private final String symbol;

        AluOperation(String symbol) {
            this.symbol = symbol;
        }

        String symbol() {
            return symbol;
        }

        /** Tells whether the operand divides. */
        public boolean divides() {
            return this == DIVIDE || this == DIVIDE_SIGNED || this == MODULO || this == MODULO_SIGNED;
        }
    }

    /** Atomic operations on memory, RFC 9669 section 5.3. */
    enum AtomicOperation {
        ADD,
        OR,
        AND,
        XOR,
        /** Always fetches the old value. */
        EXCHANGE,
        /** Compares with r0, and fetches into r0. */
        COMPARE_AND_EXCHANGE
    }

    /** Conditions of branches, RFC 9669 section 4.3. */
    enum Comparison {
        EQUAL("=="),
        NOT_EQUAL("!="),
        GREATER(">"),
        GREATER_OR_EQUAL(">="),
        LESS("<"),
        LESS_OR_EQUAL("<="),
        /** Some bit set in both. */
        BITS_SET("&"),
        SIGNED_GREATER("s>"),
        SIGNED_GREATER_OR_EQUAL("s>="),
        SIGNED_LESS("s<"),
        SIGNED_LESS_OR_EQUAL("s<=");

        private final String symbol;

        Comparison(String symbol) {
            this.symbol = symbol;
        }

        String symbol() {
            return symbol;
        }
    }

    /** The second operand of an instruction: a register, or a constant from the instruction itself. */
    sealed interface Operand {

        /** A register, 0 to 10. */
        record Register(int number) implements Operand {
            @Override
            public String toString() {
                return "r" + number;
            }
        }

        /** A constant, sign-extended to 64 bits. */
        record Constant(long value) implements Operand {
            @Override
            public String toString() {
                return Long.toString(value);
            }
        }
    }
}
