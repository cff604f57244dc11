package trigon.policy.program;

/**
 * Policies that were written for NCCLbpf (arXiv 2603.11438), whose objects name no kind of program: their section is
 * that of any probe. What their packed result means; {@code trigon.policy.map.NcclBpfMaps} has the maps that they share
 * with the host.
 */
public final class NcclBpf {

    /** The section of all its programs. */
    public static final String SECTION = "uprobe";

    /** The algorithm or protocol where the choice is NCCL's. */
    private static final int LEAVE = -1;

    private static final int MAX_ALGORITHM = 6;
    private static final int MAX_PROTOCOL = 2;
    private static final int MAX_CHANNELS = 64;

    private static final int PROTOCOL_SHIFT = 8;
    private static final int CHANNELS_SHIFT = 16;
    private static final int FLAGS_SHIFT = 32;
    private static final int ALGORITHM_SET = 1;
    private static final int PROTOCOL_SET = 1 << 1;
    private static final int CHANNELS_SET = 1 << 2;

    private NcclBpf() {}

    /** NCCL's number of the algorithm that a result chooses; -1: none, or one that NCCL does not have. */
    public static int algorithm(long result) {
        return chosen(result, 0, ALGORITHM_SET, MAX_ALGORITHM);
    }

    /** NCCL's number of the protocol that a result chooses; -1: none, or one that NCCL does not have. */
    public static int protocol(long result) {
        return chosen(result, PROTOCOL_SHIFT, PROTOCOL_SET, MAX_PROTOCOL);
    }

    /** Number of channels that a result chooses, no more than NCCL has; 0: NCCL chooses. */
    public static int channels(long result) {
        boolean set = (result >>> FLAGS_SHIFT & CHANNELS_SET) != 0;
        return set ? Math.min((int) (result >>> CHANNELS_SHIFT) & 0xff, MAX_CHANNELS) : 0;
    }

    /** Tells whether a result chooses anything. How aggressive it calls itself is no choice of NCCL's. */
    public static boolean chooses(long result) {
        return algorithm(result) != LEAVE || protocol(result) != LEAVE || channels(result) != 0;
    }

    private static int chosen(long result, int shift, int flag, int most) {
        int number = (int) (result >>> shift) & 0xff;
        return (result >>> FLAGS_SHIFT & flag) != 0 && number <= most ? number : LEAVE;
    }
}
