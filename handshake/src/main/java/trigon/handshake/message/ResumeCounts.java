package trigon.handshake.message;

/**
 * A sender's counts when it offers new paths for a connection whose former ones have failed.
 *
 * @param attempt its number; greater than those before
 * @param begun messages that it has begun
 * @param confirmed of these, messages that its peer is known to have
 * @param sends whether the messages go by SEND from now on; else by RDMA WRITE, to where the receiver says
 */
public record ResumeCounts(int attempt, long begun, long confirmed, boolean sends) {

    public ResumeCounts {
        if (attempt < 1 || confirmed < 0 || begun < confirmed) {
            throw new IllegalArgumentException(
                    "attempt %d with %d of %d messages confirmed".formatted(attempt, confirmed, begun));
        }
    }
}
