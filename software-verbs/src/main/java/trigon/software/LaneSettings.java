package trigon.software;

import java.time.Duration;

/**
 * How long messages are spread over several connections and cores.
 *
 * @param workers threads that move their pieces; 0 to send every message on the queue pair's own connection
 * @param perQueuePair connections of a queue pair for pieces, one way
 * @param fromBytes messages from this length on go on them, and leave the posting thread to its other work
 * @param pieceBytes no message is cut into pieces that are shorter
 * @param busyPoll how long a worker without work looks for some before it blocks
 */
public record LaneSettings(int workers, int perQueuePair, int fromBytes, int pieceBytes, Duration busyPoll) {

    /** Every message goes on the queue pair's own connection, moved by whoever posts and polls. */
    public static final LaneSettings NONE = new LaneSettings(0, 0, Integer.MAX_VALUE, 1, Duration.ZERO);

    private static final int LEAST_CORES = 8;
    private static final int MOST_WORKERS = 12;
    private static final int MOST_PER_QUEUE_PAIR = 2;
    private static final int FROM_BYTES = 8 << 10;
    private static final int PIECE_BYTES = 32 << 10;
    private static final Duration BUSY_POLL = Duration.ofNanos(500_000);

    public LaneSettings {
        if (workers < 0 || perQueuePair < 0 || pieceBytes < 1 || busyPoll.isNegative()) {
            throw new IllegalArgumentException(
                    "no lanes can be like that: %d workers, %d for a queue pair, from %d B, pieces of %d B, %s"
                            .formatted(workers, perQueuePair, fromBytes, pieceBytes, busyPoll));
        }
    }

    /** What suits a process that may use so many cores: enough are left for NCCL and the application. */
    public static LaneSettings forCores(int cores) {
        if (cores < LEAST_CORES) {
            return NONE;
        }
        int workers = Math.min(cores * 3 / 8, MOST_WORKERS);
        return new LaneSettings(workers, Math.min(workers, MOST_PER_QUEUE_PAIR), FROM_BYTES, PIECE_BYTES, BUSY_POLL);
    }
}
