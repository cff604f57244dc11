package trigon.verbs;

/**
 * The sizes of a new queue pair ({@code struct ibv_qp_init_attr}, {@code struct ibv_qp_cap}); one scatter/gather
 * element per request.
 *
 * @param sendCompletions receives the completions of the send queue
 * @param receiveCompletions receives those of the receive queue; may be the same
 * @param sendWorkRequests the least depth of the send queue
 * @param receiveWorkRequests the least depth of the receive queue
 * @param inlineBytes the longest payload to be sent with {@link SendFlag#INLINE}; 0 for none
 */
public record QueuePairCapacity(
        CompletionQueue sendCompletions,
        CompletionQueue receiveCompletions,
        int sendWorkRequests,
        int receiveWorkRequests,
        int inlineBytes) {}
