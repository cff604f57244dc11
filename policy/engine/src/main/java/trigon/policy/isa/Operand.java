package trigon.policy.isa;

/** The second operand of an instruction: a register, or a constant from the instruction itself. */
public sealed interface Operand {

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
