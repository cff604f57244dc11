package trigon.policy.verify;

/** Treatment of a divisor that may be zero. */
public enum DivisionByZero {
    /** The program is refused: a policy that divides by zero is wrong, whatever the result. */
    REFUSED,
    /** As the instruction set has it: the quotient is zero, and a remainder is the dividend. */
    DEFINED
}
