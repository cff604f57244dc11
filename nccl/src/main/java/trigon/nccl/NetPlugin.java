package trigon.nccl;

/**
 * NCCL's network calls, independent of the API version. Implemented by the transport, called by the native entry.
 *
 * <p>Contexts, comms, memory handles and requests are opaque non-zero {@code long}s that the plugin gives out; a stale
 * or made-up one is an error, never a crash. Addresses are of native memory; the caller has checked them for null.
 *
 * <p>The control path (down to {@link #deregisterMemory} and the closes) never blocks on a peer, reports failure with
 * an exception whose message is meant for the user, and may run on any thread. The data path ({@link #isend},
 * {@link #irecv}, {@link #iflush}, {@link #test}) neither throws, allocates, locks nor blocks; it returns a value that
 * is negative for a failure: minus the code of an {@link NcclResult}. The data-path calls of one comm come from one
 * thread at a time.
 *
 * @see <a href="https://docs.nvidia.com/deeplearning/nccl/">NCCL's ext-net plugin documentation</a>
 */
public interface NetPlugin {

    /** The longest message that NCCL sends ({@code MAX_NET_SIZE}), in bytes. */
    long MAX_MESSAGE_BYTES = 1L << 30;

    /** Bytes of the opaque handle that a listener hands to its peer ({@code NCCL_NET_HANDLE_MAXSIZE}). */
    int HANDLE_BYTES = 128;

    /** {@code ncclCommConfig.trafficClass} where the application set none. */
    int TRAFFIC_CLASS_UNDEFINED = -1;

    /** From {@link #isend}, {@link #irecv}: no room now; NCCL calls again with the same arguments. */
    long TRY_AGAIN = 0;

    /** From {@link #iflush}: nothing to wait for. */
    long NOTHING_TO_FLUSH = 0;

    /** From {@link #test}: the request is not finished. */
    long NOT_DONE = Long.MIN_VALUE;

    /**
     * A communicator starts to use the plugin.
     *
     * @param commId NCCL's hash of the communicator; 0 where the API version has none
     * @param trafficClass the application's, or {@link #TRAFFIC_CLASS_UNDEFINED}
     * @return the context that {@link #listen}, {@link #connect} and {@link #closeContext} are called with
     */
    long openContext(long commId, int trafficClass);

    /** The communicator is gone: what it left half-open is closed. Stale contexts are ignored. */
    void closeContext(long context);

    /** Number of devices that NCCL sees. */
    int devices();

    /** Properties of a device, 0 to {@link #devices}-1. */
    DeviceProperties properties(int device);

    /**
     * Starts to wait for one peer.
     *
     * @param handleAddress {@link #HANDLE_BYTES} bytes to be filled; NCCL carries them to the peer
     * @return the listen comm
     */
    long listen(long context, int device, long handleAddress);

    /**
     * Makes progress on a connection to a listener; called again and again with the same handle memory.
     *
     * @param handleAddress the listener's handle; its last 8 bytes are the connecting side's to keep its state in
     * @param trafficClass overrides the context's unless {@link #TRAFFIC_CLASS_UNDEFINED}
     * @return the send comm, or 0: not yet
     */
    long connect(long context, int device, long handleAddress, int trafficClass);

    /** Makes progress on the connection of a listen comm's peer. Returns the receive comm, or 0: not yet. */
    long accept(long listenComm);

    /**
     * Registers memory with a comm's link.
     *
     * @param type an {@code NCCL_PTR_*} bit
     * @return the memory handle
     */
    long registerMemory(long comm, long address, long size, int type);

    /**
     * Registers memory of a GPU that a descriptor lends (DMA-BUF). The caller closes the descriptor after the call.
     *
     * @param offset where the memory begins in what the descriptor stands for, in bytes
     * @return the memory handle
     */
    long registerDmaBuf(long comm, long address, long size, long offset, int descriptor);

    /** Undoes {@link #registerMemory} and {@link #registerDmaBuf}. 0 and stale handles are ignored. */
    void deregisterMemory(long comm, long memoryHandle);

    /** Closes a send comm, with requests outstanding or not. 0 and stale comms are ignored. */
    void closeSend(long sendComm);

    /** Closes a receive comm, with requests outstanding or not. 0 and stale comms are ignored. */
    void closeReceive(long receiveComm);

    /** Closes a listen comm; what its peer has begun fails. 0 and stale comms are ignored. */
    void closeListen(long listenComm);

    /**
     * Sends a message.
     *
     * @param size bytes, 0 to 1 GiB
     * @param tag carried for the receiver's check
     * @return the request, {@link #TRY_AGAIN}, or a negative failure
     */
    long isend(long sendComm, long address, long size, int tag, long memoryHandle);

    /**
     * Receives the next message. That NCCL watches the data itself and needs no completion ({@code
     * NCCL_NET_OPTIONAL_RECV_COMPLETION}) is no matter: a request that is done before its message came would leave
     * nobody who asks, and so nobody to tell that the peer is gone.
     *
     * @param size capacity in bytes, 0 to 1 GiB
     * @return the request, {@link #TRY_AGAIN}, or a negative failure
     */
    long irecv(long receiveComm, long address, long size, int tag, long memoryHandle);

    /**
     * Makes received data visible to the GPU.
     *
     * @return a request, {@link #NOTHING_TO_FLUSH}, or a negative failure
     */
    long iflush(long receiveComm, long address, long size, long memoryHandle);

    /**
     * Drives a comm and asks for one of its requests; a request that was reported done is gone.
     *
     * @return the bytes sent or received (0 or more) if it is done, {@link #NOT_DONE}, or a negative failure
     */
    long test(long request);
}
