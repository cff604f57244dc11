package trigon.verbs;

import trigon.system.Errno;

/**
 * The function that polls a completion queue in C: {@code int poll_cq(struct ibv_cq *queue, int entries,
 * struct ibv_wc *completions)} of {@code struct ibv_context_ops}. Valid until the queue is closed; for the thread that
 * polls the queue.
 *
 * @param function address of the function
 * @param queue address of the {@code struct ibv_cq}
 */
public record NativePoll(long function, long queue) {

    /**
     * The result of a call of the function, as {@link CompletionQueue#poll} returns it: some providers return -1 where
     * they know no errno.
     */
    public static int result(int returned) {
        return returned == -1 ? -Errno.EIO : returned;
    }
}
