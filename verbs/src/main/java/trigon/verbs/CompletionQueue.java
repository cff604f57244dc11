package trigon.verbs;

import java.util.Optional;

/**
 * A queue of finished work requests ({@code struct ibv_cq}).
 *
 * <p>Polled by one thread at a time.
 */
public interface CompletionQueue extends AutoCloseable {

    /**
     * Takes finished work requests, oldest first. Data path: never blocks, allocates or throws.
     *
     * @param into filled from index 0; at most {@link WorkCompletions#capacity} of them
     * @return how many were taken, 0 if there is none, or a negative errno
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_poll_cq.3.html">ibv_poll_cq(3)</a>
     */
    int poll(WorkCompletions into);

    /** The way to poll it from C; empty where no function of C does that. */
    default Optional<NativePoll> nativePoll() {
        return Optional.empty();
    }

    /** {@code ibv_destroy_cq(3)}. Its queue pairs must be closed before. Closing twice is allowed. */
    @Override
    void close();
}
