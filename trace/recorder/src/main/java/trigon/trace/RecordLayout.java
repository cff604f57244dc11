package trigon.trace;

/** Layout of a record, in the machine's byte order. */
public final class RecordLayout {

    /** When, in nanoseconds of {@code CLOCK_MONOTONIC}, 8 bytes. */
    public static final int TIME = 0;

    /** Offset of the record's subject, 8 bytes: a message's number in its comm, or an event's. */
    public static final int SUBJECT = 8;

    /** {@link RecordKind}, 2 bytes. */
    public static final int KIND = 16;

    /** 2 bytes; see the kind. */
    public static final int DETAIL = 18;

    /** 4 bytes, without a sign; see the kind. */
    public static final int ARGUMENT = 20;

    /** 8 bytes; see the kind. */
    public static final int VALUE = 24;

    /** From one record to the next: half a cache line. */
    public static final int BYTES = 32;

    private RecordLayout() {}
}
