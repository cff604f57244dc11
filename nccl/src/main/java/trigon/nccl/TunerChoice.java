package trigon.nccl;

/**
 * A tuner's choice in one number, so that it needs no object: from the lowest byte, 1 if it is a choice, algorithm + 1,
 * protocol + 1, channels, algorithms to avoid.
 */
public final class TunerChoice {

    /** No choice: all is left to NCCL. */
    public static final long NONE = 0;

    /** The algorithm or protocol where the choice is NCCL's. */
    public static final int LEAVE_TO_NCCL = -1;

    private static final long CHOOSES = 1;
    private static final int ALGORITHM_SHIFT = 8;
    private static final int PROTOCOL_SHIFT = 16;
    private static final int CHANNELS_SHIFT = 24;
    private static final int AVOID_SHIFT = 32;
    private static final int MASK = 0xff;

    private TunerChoice() {}

    public static long of(int algorithm, int protocol, int channels, int avoid) {
        return CHOOSES
                | (algorithm + 1L & MASK) << ALGORITHM_SHIFT
                | (protocol + 1L & MASK) << PROTOCOL_SHIFT
                | (long) (channels & MASK) << CHANNELS_SHIFT
                | (long) (avoid & MASK) << AVOID_SHIFT;
    }

    /** Returns false for {@link #NONE}, and for what another process wrote in its place. */
    public static boolean chooses(long choice) {
        return (choice & CHOOSES) != 0;
    }

    /** NCCL's number of the algorithm, 0 to 6, or {@link #LEAVE_TO_NCCL}. */
    public static int algorithm(long choice) {
        return at(choice, ALGORITHM_SHIFT) - 1;
    }

    /** NCCL's number of the protocol, 0 to 2, or {@link #LEAVE_TO_NCCL}. */
    public static int protocol(long choice) {
        return at(choice, PROTOCOL_SHIFT) - 1;
    }

    /** Number of channels; 0: NCCL chooses. */
    public static int channels(long choice) {
        return at(choice, CHANNELS_SHIFT);
    }

    /** A bit for each algorithm that is the last resort. */
    public static int avoid(long choice) {
        return at(choice, AVOID_SHIFT);
    }

    private static int at(long choice, int shift) {
        return (int) (choice >>> shift) & MASK;
    }
}
