package trigon.policy.isa;

/** Conditions of branches, RFC 9669 section 4.3. */
public enum Comparison {
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
