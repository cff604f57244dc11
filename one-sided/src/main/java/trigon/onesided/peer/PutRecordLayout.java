package trigon.onesided.peer;

import trigon.system.Memory;

/**
 * The layout of a record: a message that tells its target what to do with which window, and what to add to which signal
 * then. A short payload lies behind it; a longer one follows as messages of another connection, in the order of the
 * records. All in the byte order of the machine, which all nodes share.
 *
 * <p>Plain reads and writes of native memory; no state, any thread.
 */
public final class PutRecordLayout {

    /** Data for a window, maybe none, and maybe an addition to a signal. */
    public static final int PUT = 1;

    /** The target is to send data of a window: a {@link #FETCHED} will answer. */
    public static final int GET = 2;

    /** Data that was asked for. */
    public static final int FETCHED = 3;

    /** The last record: the rank ends its part, and has nothing under way to this one. */
    public static final int LEAVING = 4;

    /** No window: its identifiers begin with 1. */
    public static final int NO_WINDOW = 0;

    /** Bytes before the payload. */
    public static final int HEADER_BYTES = 96;

    /** The longest payload that lies in the record. */
    public static final int INLINE_BYTES = 4096;

    /** Bytes of the longest record. */
    public static final int MAX_BYTES = HEADER_BYTES + INLINE_BYTES;

    private static final long KIND = 0;
    private static final long WINDOW = 4;
    private static final long SEQUENCE = 8;
    private static final long OFFSET = 16;
    private static final long SIZE = 24;
    private static final long PIECE_BYTES = 32;
    private static final long SIGNAL_WINDOW = 36;
    private static final long SIGNAL_OFFSET = 40;
    private static final long ADDEND = 48;
    private static final long REQUEST = 56;
    private static final long ANSWER_OFFSET = 64;
    private static final long ANSWER_WINDOW = 72;

    private PutRecordLayout() {}

    /**
     * Begins a record: without a place, a signal and an answer.
     *
     * @param sequence number of the record among all from this rank to that one
     */
    public static void begin(long address, int kind, long sequence) {
        Memory.putInt(address + KIND, kind);
        Memory.putLong(address + SEQUENCE, sequence);
        place(address, NO_WINDOW, 0, 0, 0);
        signal(address, NO_WINDOW, 0, 0);
        answer(address, 0, NO_WINDOW, 0);
    }

    /**
     * Whose memory it is about.
     *
     * @param size bytes of payload, or of what is asked for
     * @param pieceBytes of the messages that the payload follows in; 0 where it is in the record
     */
    public static void place(long address, int window, long offset, long size, int pieceBytes) {
        Memory.putInt(address + WINDOW, window);
        Memory.putLong(address + OFFSET, offset);
        Memory.putLong(address + SIZE, size);
        Memory.putInt(address + PIECE_BYTES, pieceBytes);
    }

    /** Once the payload is there, a word grows by the addend. */
    public static void signal(long address, int window, long offset, long addend) {
        Memory.putInt(address + SIGNAL_WINDOW, window);
        Memory.putLong(address + SIGNAL_OFFSET, offset);
        Memory.putLong(address + ADDEND, addend);
    }

    /** Notes the request of the rank that asked, and the place there of what is asked for, or comes. */
    public static void answer(long address, long request, int window, long offset) {
        Memory.putLong(address + REQUEST, request);
        Memory.putLong(address + ANSWER_WINDOW, window);
        Memory.putLong(address + ANSWER_OFFSET, offset);
    }

    public static int kind(long address) {
        return Memory.getInt(address + KIND);
    }

    public static long sequence(long address) {
        return Memory.getLong(address + SEQUENCE);
    }

    public static int window(long address) {
        return Memory.getInt(address + WINDOW);
    }

    public static long offset(long address) {
        return Memory.getLong(address + OFFSET);
    }

    public static long size(long address) {
        return Memory.getLong(address + SIZE);
    }

    public static int pieceBytes(long address) {
        return Memory.getInt(address + PIECE_BYTES);
    }

    public static int signalWindow(long address) {
        return Memory.getInt(address + SIGNAL_WINDOW);
    }

    public static long signalOffset(long address) {
        return Memory.getLong(address + SIGNAL_OFFSET);
    }

    public static long addend(long address) {
        return Memory.getLong(address + ADDEND);
    }

    public static long request(long address) {
        return Memory.getLong(address + REQUEST);
    }

    public static int answerWindow(long address) {
        return (int) Memory.getLong(address + ANSWER_WINDOW);
    }

    public static long answerOffset(long address) {
        return Memory.getLong(address + ANSWER_OFFSET);
    }

    public static long payload(long address) {
        return address + HEADER_BYTES;
    }

    /** Bytes of payload that lie in the record. */
    public static long inlineBytes(long address) {
        return kind(address) == GET || pieceBytes(address) != 0 ? 0 : size(address);
    }
}
