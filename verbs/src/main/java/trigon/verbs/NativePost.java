package trigon.verbs;

/**
 * The functions that post to a queue pair in C, of {@code struct ibv_context_ops}. Valid until the queue pair is
 * closed; for the thread that posts to it.
 *
 * @param queuePair address of the {@code struct ibv_qp}
 * @param send address of {@code int post_send(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **)}
 * @param receive address of {@code int post_recv(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **)}
 */
public record NativePost(long queuePair, long send, long receive) {}
