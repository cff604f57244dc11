package trigon.software;

/**
 * The messages that leave the thread that posts and polls, and the number of threads that move them.
 *
 * <p>One core cannot copy at the speed of a fast link, and NCCL has one thread for all its connections. But a thread
 * that waits costs a change of threads for each message, and on few processors it takes the place of one that works.
 *
 * @param threads how many threads move long messages; 0: whoever posts and polls moves all of them
 * @param fromBytes the shortest message that they move
 */
public record MoverSettings(int threads, int fromBytes) {

    /** Every message is moved by whoever posts and polls. */
    public static final MoverSettings NONE = new MoverSettings(0, Integer.MAX_VALUE);

    private static final int MIN_PROCESSORS = 4;
    private static final int MANY_PROCESSORS = 8;
    private static final int MAX_THREADS = 8;
    private static final int FROM_BYTES = (64 << 10) + 1;
    private static final int FROM_BYTES_WITH_FEW_PROCESSORS = (256 << 10) + 1;

    public MoverSettings {
        if (threads < 0 || fromBytes < 1) {
            throw new IllegalArgumentException(
                    "%d threads cannot move messages from %d bytes on".formatted(threads, fromBytes));
        }
    }

    /** Settings for a process that may use so many processors: the half of them is left to NCCL and the application. */
    public static MoverSettings forProcessors(int processors) {
        if (processors < MIN_PROCESSORS) {
            return NONE;
        }
        return new MoverSettings(
                Math.min(MAX_THREADS, processors / 2),
                processors < MANY_PROCESSORS ? FROM_BYTES_WITH_FEW_PROCESSORS : FROM_BYTES);
    }
}
