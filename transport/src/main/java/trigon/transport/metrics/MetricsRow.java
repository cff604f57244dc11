package trigon.transport.metrics;

/**
 * Layout of the memory of {@link Metrics}, in the machine's byte order: a header, and behind it rows of
 * {@value #BYTES} bytes. What is counted lies in the first line of a row, so that a message touches one line.
 *
 * <p>Each word is written by one thread at a time, in one piece: a reader sees an old or a new value, never a torn one.
 * A text has several words, and one that is being replaced may be read half old and half new.
 * A row's {@link #KIND} is written last when it is opened, and first when it is freed; {@link #GENERATION} changes in
 * between, before anything else of the row does. Readers look at the generation first and again last: where it has
 * changed, what they have read is of two paths.
 */
public final class MetricsRow {

    /** Beginning of the header, 8 bytes: "TrgnMet" and the version of the layout. */
    public static final long MAGIC = 0x5472676E4D657400L | 3;

    /** In the header: how many rows there are, 4 bytes. */
    public static final long ROWS = 8;

    /** In the header: how many of them were ever used, the first ones, 4 bytes. */
    public static final long USED = 12;

    /** In the header: paths that found no row, and are counted nowhere that others see, 8 bytes. */
    public static final long WITHOUT_ROW = 16;

    /** Length of the header. */
    public static final long HEADER_BYTES = 256;

    /** Length of a row. */
    public static final int BYTES = 256;

    /** Kind of the row, 4 bytes: {@link #FREE}, {@link #LINK}, {@link #PATH} or {@link #FAILOVERS}. */
    public static final long KIND = 0;

    /**
     * State of a path, 4 bytes: the code of {@link trigon.transport.path.PathState}. Of a link: 0, or {@link #DOWN}.
     */
    public static final long STATE = 4;

    /** Number of times that the row was opened, 4 bytes. */
    public static final long GENERATION = 8;

    /** Speed of a link in Mbit/s, as far as it is known. Of others: the number of their link's row. 4 bytes. */
    public static final long SPEED_OR_LINK = 12;

    /**
     * Messages, 8 bytes. A link's are those of its paths that are closed. So for all that follow. Of failovers:
     * messages that were sent again.
     */
    public static final long MESSAGES = 16;

    /** Bytes of the messages, 8 bytes. */
    public static final long MESSAGE_BYTES = 24;

    /** Messages that had to wait until the receiver said where they may go, 8 bytes. Of failovers: nanoseconds. */
    public static final long WAITS = 32;

    /** Paths that were lost while they were in use, 8 bytes. Of failovers: how many. */
    public static final long ERRORS = 40;

    /** For a link: attempts to bring up a path that failed, 8 bytes. Of failovers: returns to the link. */
    public static final long RETRIES = 48;

    /** For failovers: the longest one, in nanoseconds, 8 bytes. */
    public static final long LONGEST = 56;

    /** For a link: its name. Of others: who is at the other end. UTF-8, filled up with zeros. */
    public static final long NAME = 64;

    public static final int NAME_BYTES = 96;

    /** For a link: what carries its data. Of a path: which end it is. UTF-8, filled up with zeros. */
    public static final long TYPE = NAME + NAME_BYTES;

    public static final int TYPE_BYTES = 16;

    /** For a path through relays: who they are, and over what. UTF-8, filled up with zeros. */
    public static final long RELAYS = TYPE + TYPE_BYTES;

    public static final int RELAYS_BYTES = 80;

    /** A {@link #KIND}: nobody's. */
    public static final int FREE = 0;

    /** A {@link #KIND}: a link's. */
    public static final int LINK = 1;

    /** State of a link: nothing can go over it, as far as this node's kernel and device say. */
    public static final int DOWN = 1;

    /** A {@link #KIND}: a path's. */
    public static final int PATH = 2;

    /** A {@link #KIND}: of what became of a link's connections to a peer when their path failed. */
    public static final int FAILOVERS = 3;

    /** Rows that a file has at most. */
    public static final int MAX_ROWS = 1 << 16;

    private MetricsRow() {}
}
