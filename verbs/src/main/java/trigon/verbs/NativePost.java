package trigon.verbs;

/**
 * The functions that post to a queue pair in C, of {@code struct ibv_context_ops}. Valid until the queue pair is
 * closed; for the thread that posts to it.
 *
 * @param queuePair address of the {@code struct ibv_qp}
 * @param send address of {@code int post_send(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **)}
 * @param receive address of {@code int post_recv(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **)}
 * @param delivered address of 8 bytes, the number of send work requests since READY_TO_SEND that the peer has, in their
 *     order, as far as this end knows: what {@link SendFlag#DELIVERY_COMPLETE} asks to be told of those that {@link
 *     SendFlag#INJECT_COMPLETE} completes before. Never more than the peer has; stays as it is in the error state. 0
 *     where a success always means that the peer has the message
 */
public record NativePost(long queuePair, long send, long receive, long delivered) {}
