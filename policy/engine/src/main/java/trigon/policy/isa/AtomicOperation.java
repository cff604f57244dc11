package trigon.policy.isa;

/** Atomic operations on memory, RFC 9669 section 5.3. */
public enum AtomicOperation {
    ADD,
    OR,
    AND,
    XOR,
    /** Always fetches the old value. */
    EXCHANGE,
    /** Compares with r0, and fetches into r0. */
    COMPARE_AND_EXCHANGE
}
