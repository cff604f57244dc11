package trigon.verbs;

/** Registered memory ({@code struct ibv_mr}). Immutable; valid until closed. */
public interface MemoryRegion extends AutoCloseable {

    /** Start, in this process's address space. */
    long address();

    /** Length in bytes. */
    long length();

    /** {@code lkey}: names the region in this process's own work requests. */
    int localKey();

    /** {@code rkey}: what the peer's RDMA operations name it by. */
    int remoteKey();

    /**
     * {@code ibv_dereg_mr(3)}: once it returns, no peer can reach the memory any more. Closing twice is allowed.
     */
    @Override
    void close();
}
