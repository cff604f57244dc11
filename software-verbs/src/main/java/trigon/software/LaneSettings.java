package trigon.software;

import java.time.Duration;

/**
 * How long messages are spread over several connections and cores.
 *
 * <p>A queue pair's first lane carries all messages that are not cut into pieces, and the first piece of the others; so
 * its worker has work most of the time, and looks for it for long before it sleeps. The other lanes carry the other
 * pieces, which are long, and their workers leave the cores to others sooner: where all look for work at the same
 * time, NCCL's own thread is without a core.
 *
 * @param first who serves the first lanes of queue pairs; nobody to send every message on the queue pair's own connection
 * @param others who serves the other lanes; nobody for the same workers
 * @param perQueuePair connections of a queue pair for pieces, one way
 * @param fromBytes messages from this length on go on them, and leave the posting thread to its other work
 * @param pieceBytes no message is cut into pieces that are shorter
 */
public record LaneSettings(Workers first, Workers others, int perQueuePair, int fromBytes, int pieceBytes) {

    /**
     * Threads that move pieces.
     *
     * @param count how many there are
     * @param busyPoll how long one without work looks for some before it blocks
     */
    public record Workers(int count, Duration busyPoll) {

        /** No threads. */
        public static final Workers NONE = new Workers(0, Duration.ZERO);

        public Workers {
            if (count < 0 || busyPoll.isNegative()) {
                throw new IllegalArgumentException(
                        "%d workers that look for work for %s cannot be".formatted(count, busyPoll));
            }
        }
    }

    /** Every message goes on the queue pair's own connection, moved by whoever posts and polls. */
    public static final LaneSettings NONE = new LaneSettings(Workers.NONE, Workers.NONE, 0, Integer.MAX_VALUE, 1);

    private static final int LEAST_CORES = 8;
    private static final int MOST_WORKERS = 4;
    private static final int PER_QUEUE_PAIR = 2;
    private static final int FROM_BYTES = 8 << 10;
    private static final int PIECE_BYTES = 32 << 10;
    private static final Duration FIRST_BUSY_POLL = Duration.ofNanos(500_000);
    private static final Duration OTHERS_BUSY_POLL = Duration.ofNanos(200_000);

    public LaneSettings {
        if (perQueuePair < 0 || pieceBytes < 1 || (first.count() == 0 && others.count() > 0)) {
            throw new IllegalArgumentException(
                    "no lanes can be like that: %s and %s, %d for a queue pair, pieces of %d B"
                            .formatted(first, others, perQueuePair, pieceBytes));
        }
    }

    /** What suits a process that may use so many cores: enough are left for NCCL and the application. */
    public static LaneSettings forCores(int cores) {
        if (cores < LEAST_CORES) {
            return NONE;
        }
        int workers = Math.min(cores * 3 / 8, MOST_WORKERS);
        return new LaneSettings(
                new Workers(workers, FIRST_BUSY_POLL),
                new Workers(workers, OTHERS_BUSY_POLL),
                PER_QUEUE_PAIR,
                FROM_BYTES,
                PIECE_BYTES);
    }

    /** Whether there are lanes at all. */
    boolean areUsed() {
        return first.count() > 0;
    }
}
