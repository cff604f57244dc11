package trigon.policy.host.decision;

import trigon.policy.program.Field;
import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramTypes;

/** What a tuner's program leaves in its memory. */
public final class TunerOutputs {

    /** The algorithm or protocol where the choice is NCCL's. */
    public static final int LEAVE_TO_NCCL = -1;

    private static final ProgramType TUNER = ProgramTypes.TUNER;
    private static final Field ALGORITHM = TUNER.field("algorithm");
    private static final Field PROTOCOL = TUNER.field("protocol");
    private static final Field CHANNELS = TUNER.field("n_channels");
    private static final Field AVOID = TUNER.field("avoid");

    private TunerOutputs() {}

    /** NCCL's number of an algorithm, 0 to 6, or {@link #LEAVE_TO_NCCL}. */
    public static int algorithm(long scratch) {
        return (int) ALGORITHM.get(scratch);
    }

    /** NCCL's number of a protocol, 0 to 2, or {@link #LEAVE_TO_NCCL}. */
    public static int protocol(long scratch) {
        return (int) PROTOCOL.get(scratch);
    }

    /** 0 to 64; 0: NCCL chooses. */
    public static int channels(long scratch) {
        return (int) CHANNELS.get(scratch);
    }

    /** A bit for each algorithm that is the last resort. */
    public static int avoid(long scratch) {
        return (int) AVOID.get(scratch);
    }

    static void set(long scratch, int algorithm, int protocol, int channels, int avoid) {
        ALGORITHM.set(scratch, algorithm);
        PROTOCOL.set(scratch, protocol);
        CHANNELS.set(scratch, channels);
        AVOID.set(scratch, avoid);
    }
}
