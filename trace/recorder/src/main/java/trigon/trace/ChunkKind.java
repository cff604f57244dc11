package trigon.trace;

import java.util.Optional;

/** The content of a chunk of a trace file. The codes are part of the format. */
public enum ChunkKind {

    /** {@link Fields} of the process; the first chunk. */
    PROCESS(1),

    /** A stream begins: {@link Fields} of a comm, or of a thread of NCCL's. */
    STREAM(2),

    /** Records of a stream: how many are lost so far and the number of the first, 8 bytes each, and the records. */
    RECORDS(3),

    /** Something that happened beside the data path: {@link Fields} with "what" and "time". */
    EVENT(4),

    /** All histograms of a stream as they are now, as they lie in a ring. The last one counts. */
    HISTOGRAMS(5),

    /** A stream has ended: {@link Fields} with its totals. */
    STREAM_END(6),

    /** The process closed its trace: {@link Fields} with totals. */
    END(7);

    private final int code;

    ChunkKind(int code) {
        this.code = code;
    }

    /** The number in a file. */
    public int code() {
        return code;
    }

    /** The kind of that number; empty: a later version's. */
    public static Optional<ChunkKind> of(int code) {
        return code > 0 && code <= values().length ? Optional.of(values()[code - 1]) : Optional.empty();
    }
}
