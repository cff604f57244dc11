package trigon.policy.isa;

/** Arithmetic and logic, RFC 9669 section 4.1. */
public enum AluOperation {
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
