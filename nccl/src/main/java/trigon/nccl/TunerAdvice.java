package trigon.nccl;

/**
 * A policy's advice for one communicator. NCCL calls for a communicator from one thread at a time. All but
 * {@link #close} allocate nothing, take no lock and do not throw.
 */
public interface TunerAdvice {

    /** Size of the memory that programs work on, in bytes. */
    int SCRATCH_BYTES = 1536;

    /** Alignment of that memory, in bytes. */
    int SCRATCH_ALIGNMENT = 64;

    /** Version of the built-in tuner's rules: ranks with others decide differently. */
    int BUILT_IN_VERSION = 1;

    /**
     * Answers NCCL's {@code getCollInfo}.
     *
     * @param scratch address of memory to work on
     * @return a {@link TunerChoice}
     */
    long decide(long scratch, int collective, long bytes, int pipeOps, int regBuff);

    /** Says that NCCL cannot do the last choice here. */
    void refused();

    /**
     * Answers NCCL's {@code getChunkSize}.
     *
     * @param chunk NCCL's own choice, in bytes
     * @return in bytes; 0: NCCL's choice stands
     */
    long chunk(long scratch, int collective, long bytes, int algorithm, int protocol, int channels, long chunk);

    /** Ends the advice, as the communicator ends. */
    void close();
}
