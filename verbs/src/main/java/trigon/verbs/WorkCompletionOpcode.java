package trigon.verbs;

/** The operation of a completion ({@code enum ibv_wc_opcode}), as codes: the data path compares them as {@code int}. */
public final class WorkCompletionOpcode {

    public static final int SEND = 0;
    public static final int RDMA_WRITE = 1;
    public static final int RDMA_READ = 2;
    public static final int RECEIVE = 1 << 7;
    public static final int RECEIVE_RDMA_WITH_IMMEDIATE = RECEIVE + 1;

    private WorkCompletionOpcode() {}
}
