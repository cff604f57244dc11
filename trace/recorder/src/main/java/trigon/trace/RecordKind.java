package trigon.trace;

import java.util.Optional;

/** The kind of a record. The codes are part of the file format, and of the entry library's {@code net/trace.h}. */
public enum RecordKind {

    /** {@code isend} was refused for the first time: the message waits for its receiver, or for room. */
    SEND_WAITS(1),

    /** {@code isend} took a message; the time is that before the call. Value: bytes. */
    SEND_POSTED(2),

    /**
     * {@code test} said that a message is sent. Value: bytes. Argument: nanoseconds in which the comm's thread was
     * elsewhere, right before.
     */
    SEND_DONE(3),

    /** {@code irecv} took a receive; the time is that before the call. Value: room. */
    RECEIVE_POSTED(4),

    /** {@code test} said that a message has come. Value and argument as with {@link #SEND_DONE}. */
    RECEIVE_DONE(5),

    /** A call returned an error. Detail: 1 isend, 2 irecv, 3 test. Value: the {@code ncclResult_t}. */
    CALL_FAILED(6),

    /**
     * An event of NCCL's profiler began. Subject: its number. Detail: its type. Value: the parent's number. Argument:
     * a step's number, a channel, or a number of ranks, by the type.
     */
    EVENT_START(16),

    /**
     * A detail of an event, right behind its start; detail: which. Of a collective and a message: 0 the rank, and how
     * many ranks and, from bit 32 on, nodes there are; 1 function, algorithm, protocol and channels, and bytes; 2 the
     * peer, and NCCL's sequence number; 3 the communicator. Of an operation of the proxy: 1 its steps, and the peer. Of
     * a kernel: 1 its start by the GPU's clock.
     */
    EVENT_DETAIL(17),

    /** An event of NCCL's profiler ended. Detail: its type. */
    EVENT_STOP(18),

    /**
     * An event of NCCL's profiler changed its state. Detail: the state. Where a step's message was taken, argument: the
     * stream of the comm, 0 where it is not traced; value: the message's number. Where a kernel stopped, value: when,
     * by the GPU's clock.
     */
    EVENT_STATE(19);

    private static final RecordKind[] BY_CODE = new RecordKind[32];

    static {
        for (RecordKind kind : values()) {
            BY_CODE[kind.code] = kind;
        }
    }

    private final int code;

    RecordKind(int code) {
        this.code = code;
    }

    /** The number in a record. */
    public int code() {
        return code;
    }

    /** The kind of that number; empty: a later version's. */
    public static Optional<RecordKind> of(int code) {
        return code >= 0 && code < BY_CODE.length ? Optional.ofNullable(BY_CODE[code]) : Optional.empty();
    }
}
