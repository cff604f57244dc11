package trigon.software;

/**
 * The payloads that a sender has its peer check, of messages that go through relays: a relay reads and writes them in
 * its memory, where no checksum of TCP or of a NIC protects them. Headers are checked unless nothing is.
 */
public enum CircuitChecks {
    /** None, and no headers. */
    NONE,
    /** Those of up to {@link #ALWAYS_BYTES}, and of the longer ones each {@value #ONE_IN}th on a connection. */
    SOME,
    /** Each of them, however long. */
    ALL;

    /** The longest payload that is always checked: checking it costs less than sending it. */
    public static final int ALWAYS_BYTES = 4 << 10;

    /** One in so many longer messages is checked. */
    public static final int ONE_IN = 16;
}
