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
 * @param first who serves the first lanes of queue pairs; nobody to send every message on the queue pair's own
 *     connection
 * @param others who serves the second lanes, and as many for the third, and so on; nobody for the same workers
 * @param perQueuePair connections of a queue pair for pieces, one way
 * @param cut which messages go on them, and in how many pieces
 */
public record LaneSettings(Workers first, Workers others, int perQueuePair, Cut cut) {

    /**
     * Threads that move pieces.
     *
     * @param count how many there are
     * @param busyPoll how long one without work looks for some before it blocks
     */
    public record Workers(int count, Duration busyPoll) {

        /** No threads, hence no lanes: all messages go on the queue pair's own connection. */
        public static final Workers NONE = new Workers(0, Duration.ZERO);

        public Workers {
            if (count < 0 || busyPoll.isNegative()) {
                throw new IllegalArgumentException(
                        "%d workers that look for work for %s cannot be".formatted(count, busyPoll));
            }
        }
    }

    /**
     * How messages are cut.
     *
     * @param fromBytes messages from this length on go on lanes, and leave the posting thread to its other work
     * @param pieceBytes no message is cut into pieces that are shorter, but for a line at the end
     * @param longPieceBytes and into more than two only if they are as long as this
     * @param atOnce about so many pieces are under way at a time, if each queue pair that sends has one message under
     *     way, but two of each message
     */
    public record Cut(int fromBytes, int pieceBytes, int longPieceBytes, int atOnce) {

        public Cut {
            if (pieceBytes < 1 || longPieceBytes < pieceBytes || atOnce < 1) {
                throw new IllegalArgumentException("no message can be cut into %d pieces of %d or %d B"
                        .formatted(atOnce, pieceBytes, longPieceBytes));
            }
        }

        /** In how many pieces a message goes, at least 1, if so many queue pairs send. */
        public int pieces(int length, int senders) {
            int fit = Math.max(Math.min(length / pieceBytes, FEW), length / longPieceBytes);
            return Math.clamp(fit, 1, Math.max(FEW, atOnce / Math.max(senders, 1)));
        }
    }

    /** Pieces of a message that are worth it in any case. */
    private static final int FEW = 2;

    /** Every message goes on the queue pair's own connection, moved by whoever posts and polls. */
    public static final LaneSettings NONE =
            new LaneSettings(Workers.NONE, Workers.NONE, 0, new Cut(Integer.MAX_VALUE, 1, 1, 1));

    private static final int LEAST_CORES = 4;
    private static final int MANY_CORES = 8;
    private static final int MOST_WORKERS = 4;
    private static final int MOST_PER_QUEUE_PAIR = 3;
    private static final int FROM_BYTES = 8 << 10;
    private static final int FROM_BYTES_WITH_FEW_CORES = (32 << 10) + 1;
    private static final int PIECE_BYTES = 32 << 10;
    private static final int LONG_PIECE_BYTES = 96 << 10;
    private static final Duration FIRST_BUSY_POLL = Duration.ofNanos(500_000);
    private static final Duration OTHERS_BUSY_POLL = Duration.ofNanos(200_000);

    public LaneSettings {
        if (perQueuePair < 0 || (first.count() == 0 && others.count() > 0)) {
            throw new IllegalArgumentException(
                    "no lanes can be like that: %s and %s, %d for a queue pair".formatted(first, others, perQueuePair));
        }
    }

    /**
     * What suits a process that may use so many cores: a quarter of them is left for NCCL and the application, and at
     * least two, since both look for work all the time.
     */
    public static LaneSettings forCores(int cores) {
        if (cores < LEAST_CORES) {
            return NONE;
        }
        if (cores < MANY_CORES) {
            // with more workers, or shorter messages on lanes, all-reduces of up to 512 KiB took longer
            return new LaneSettings(
                    new Workers(1, FIRST_BUSY_POLL),
                    new Workers(1, OTHERS_BUSY_POLL),
                    2,
                    new Cut(FROM_BYTES_WITH_FEW_CORES, PIECE_BYTES, LONG_PIECE_BYTES, 2));
        }
        int workers = Math.min(cores * 3 / 8, MOST_WORKERS);
        int perQueuePair = Math.min(cores * 3 / 4 / workers, MOST_PER_QUEUE_PAIR);
        return new LaneSettings(
                new Workers(workers, FIRST_BUSY_POLL),
                new Workers(workers, OTHERS_BUSY_POLL),
                perQueuePair,
                new Cut(FROM_BYTES, PIECE_BYTES, LONG_PIECE_BYTES, workers * perQueuePair));
    }

    /** Whether there are lanes at all. */
    public boolean areUsed() {
        return first.count() > 0;
    }
}
