package trigon.policy.host;

import org.jspecify.annotations.Nullable;

/** An event of NCCL's profiler, as far as it is known. One thread. */
final class OpenEvent {

    /** The numbers of NCCL's types of events, {@code ncclProfileColl} and so on: they are bits of a mask. */
    static final int COLLECTIVE = 1;

    static final int MESSAGE = 2;
    static final int OPERATION = 3;
    static final int STEP = 4;

    /** NCCL's functions by the codes of a trace, see {@link trigon.trace.RecordKind#EVENT_DETAIL}. */
    private static final int[] FUNCTIONS = {-1, 4, 0, 1, 2, 3, 6, 7};

    private static final long UNKNOWN = Long.MIN_VALUE;

    private final int type;
    private final @Nullable OpenEvent parent;
    private final long start;
    private final int argument;
    private int rank = -1;
    private int how;
    private int peer = -1;
    private long bytes;
    private long sequence;
    private long communicator;
    private long begun = UNKNOWN;
    private long ended = UNKNOWN;
    private int operations;
    private boolean hadOperations;

    OpenEvent(int type, @Nullable OpenEvent parent, long start, int argument) {
        this.type = type;
        this.parent = parent;
        this.start = start;
        this.argument = argument;
        if (type == OPERATION && parent != null) {
            parent.operations++;
            parent.hadOperations = true;
        }
    }

    /** A detail that came with its start. */
    void learn(int index, int argument, long value) {
        if (type == OPERATION) {
            peer = (int) value;
            bytes = value >>> 32; // of a piece
            return;
        }
        switch (index) {
            case 0 -> rank = argument;
            case 1 -> {
                how = argument;
                bytes = value;
            }
            case 2 -> {
                peer = type == MESSAGE ? argument : -1;
                sequence = value;
            }
            default -> communicator = value;
        }
    }

    /** Begins a step that sends: its data are there. The events above it have begun, too. */
    void sends(long time) {
        for (OpenEvent each = this; each != null; each = each.parent) {
            each.begun(time);
        }
    }

    /** Begins a step that receives: its message may be sent much later. */
    void receives(long time) {
        begun(time);
    }

    private void begun(long time) {
        if (begun == UNKNOWN) {
            begun = time;
        }
    }

    /** Ends a step that receives: its message has come. The events above it have begun, at the latest. */
    void arrived(long time) {
        over(time);
        sends(time);
    }

    private void over(long time) {
        if (ended == UNKNOWN) {
            ended = time;
        }
    }

    /** NCCL says that it is over: a collective is as soon as it is enqueued, its operations go on. */
    void stop(long time) {
        if (type == STEP || type == OPERATION) {
            over(time);
        }
        if (type == OPERATION && parent != null) {
            parent.operations--;
            parent.ended = time;
        }
    }

    int type() {
        return type;
    }

    @Nullable
    OpenEvent parent() {
        return parent;
    }

    /** Tells of a collective or a message whether the network's part of it is over. */
    boolean isQuiet() {
        return hadOperations && operations == 0;
    }

    /** Makes what programs see of it, with the facts of the events above it. */
    EndedEvent end() {
        OpenEvent operation = type == STEP && parent != null ? parent : this;
        OpenEvent above = operation.type == OPERATION && operation.parent != null ? operation.parent : operation;
        int function = above.how & 0xff;
        boolean ofNetwork = operation.type == OPERATION;
        long from = begun == UNKNOWN ? start : begun;
        return new EndedEvent(
                1 << type,
                above.communicator,
                above.rank,
                function < FUNCTIONS.length ? FUNCTIONS[function] : -1,
                type == STEP ? operation.bytes : above.bytes,
                (above.how >>> 8 & 0xff) - 1,
                (above.how >>> 16 & 0xff) - 1,
                above.how >>> 24,
                above.sequence,
                ofNetwork ? operation.argument & 0xff : -1,
                operation.peer,
                ofNetwork && (operation.argument & 1 << 8) != 0,
                from,
                Math.max(0, ended - from));
    }

    /**
     * An event of NCCL's profiler that ended, as a policy sees it. What is not known is 0, or -1 where 0 means
     * something.
     *
     * @param type NCCL's bit for it
     * @param communicator NCCL's number of it
     * @param collective NCCL's number of the function
     * @param sequence which one of the communicator's calls of that function it is
     * @param start by the machine's monotonic clock, in nanoseconds
     * @param duration in nanoseconds
     */
    record EndedEvent(
            int type,
            long communicator,
            int rank,
            int collective,
            long bytes,
            int algorithm,
            int protocol,
            int channels,
            long sequence,
            int channel,
            int peer,
            boolean sends,
            long start,
            long duration) {}
}
