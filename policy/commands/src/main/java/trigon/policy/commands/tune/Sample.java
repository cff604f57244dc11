package trigon.policy.commands.tune;

/**
 * A collective of a traced run.
 *
 * @param what was asked for
 * @param choice how NCCL ran it
 * @param nanos from its first message to its last
 */
record Sample(Asked what, Choice choice, long nanos) {

    /**
     * What NCCL is asked for.
     *
     * @param collective NCCL's number
     * @param bytes as NCCL's tuners count them
     */
    record Asked(int collective, int ranks, int nodes, long bytes) {

        /** The power of two that a row is for: all from it to the next one. */
        Asked powerOfTwo() {
            return new Asked(collective, ranks, nodes, minBytes());
        }

        long minBytes() {
            return Long.highestOneBit(bytes);
        }

        long maxBytes() {
            return 2 * minBytes() - 1;
        }
    }
}
