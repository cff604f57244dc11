package trigon.verbs;

/** Flags of a send work request ({@code enum ibv_send_flags}), as bits: the data path passes them in an {@code int}. */
public final class SendFlag {

    /** None of them. */
    public static final int NONE = 0;

    /** Wait for the queue pair's earlier RDMA READs and atomics. */
    public static final int FENCE = 1;

    /** Put a completion on the completion queue even when the request succeeds. Failures always do. */
    public static final int SIGNALED = 1 << 1;

    /** Copy the payload while posting; the local key is not looked at, and the memory is free at once. */
    public static final int INLINE = 1 << 3;

    private SendFlag() {}
}
