package trigon.policy.host;

/**
 * An event of NCCL's profiler that ended, as a policy sees it. What is not known is 0, or -1 where 0 means something.
 *
 * @param type NCCL's bit for it
 * @param communicator NCCL's number of it
 * @param collective NCCL's number of the function
 * @param sequence which one of the communicator's calls of that function it is
 * @param start by the machine's monotonic clock, in nanoseconds
 * @param duration in nanoseconds
 */
record EndedEvent(
        int type,
        long communicator,
        int rank,
        int collective,
        long bytes,
        int algorithm,
        int protocol,
        int channels,
        long sequence,
        int channel,
        int peer,
        boolean sends,
        long start,
        long duration) {}
