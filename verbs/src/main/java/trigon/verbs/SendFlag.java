package trigon.verbs;

/** Flags of a send work request ({@code enum ibv_send_flags}), as bits: the data path passes them in an {@code int}. */
public final class SendFlag {

    /** No fence, and no completion unless the request fails. */
    public static final int NONE = 0;

    /** Wait for the queue pair's earlier RDMA READs and atomics. */
    public static final int FENCE = 1;

    /** Put a completion on the completion queue even when the request succeeds. Failures always do. */
    public static final int SIGNALED = 1 << 1;

    /** Copy the payload while posting; the local key is not looked at, and the memory is free at once. */
    public static final int INLINE = 1 << 3;

    /**
     * Complete as soon as the memory may be used again, though the peer may not have the message yet. An RDMA NIC pays
     * no attention and completes when the peer has acknowledged; a device that works by copying need not wait for that.
     * What becomes of the message later is not told: neither a failure, nor that the peer is slow to receive.
     *
     * @see <a href="https://ofiwg.github.io/libfabric/main/man/fi_cq.3.html">fi_cq(3), FI_INJECT_COMPLETE</a>
     */
    public static final int INJECT_COMPLETE = 1 << 16;

    /**
     * Complete when the receive that a SEND takes has all of it, however late that receive is posted. A device that
     * would otherwise say that there is none, or give up after a time, does neither. An RDMA NIC pays no attention: its
     * queue pair's own limits hold. Together with {@link #INJECT_COMPLETE}, the request completes as soon as its memory
     * may be used again, and {@link NativePost#delivered} tells the rest.
     *
     * @see <a href="https://ofiwg.github.io/libfabric/main/man/fi_cq.3.html">fi_cq(3), FI_DELIVERY_COMPLETE</a>
     */
    public static final int DELIVERY_COMPLETE = 1 << 17;

    /** Those that libibverbs knows. */
    public static final int OF_LIBIBVERBS = FENCE | SIGNALED | INLINE;

    private SendFlag() {}
}
