package trigon.software.device;

/** The receiver of the completions of a queue pair's requests. */
interface CompletionSink {

    /**
     * Adds a completion, in the fields of a {@code struct ibv_wc}; it is lost if there is no room. Data path: called by
     * whoever moves the queue pair's data, under its lock.
     */
    void add(long workRequestId, int status, int opcode, int byteLength, int immediate, int flags, int queuePairNumber);
}
