package trigon.transport;

/**
 * NCCL was told of a failure in a communicator, here or, as its peers are told, on another node.
 *
 * @param result what the communicator's comms return from now on
 * @param words for the log and the peers
 * @param thread the one that NCCL was told on, by its identifier
 */
record CommunicatorFailure(NcclResult result, String words, long thread) {

    private static final String BEGINNING = "communicator 0x";

    /**
     * Of this node's, unless it follows from another one's: then it is that one's, in its words, so that however many nodes
     * they go through, who reads them learns where it began.
     *
     * @param what has failed, and why
     */
    static CommunicatorFailure of(long commId, String node, NcclResult result, String what, long thread) {
        int others = what.indexOf(BEGINNING);
        String words = others >= 0
                ? what.substring(others)
                : "%s%s has failed on %s, by %s".formatted(BEGINNING, Long.toHexString(commId), node, what);
        return new CommunicatorFailure(result, words, thread);
    }

    /** Whether a peer's farewell says so: then it has closed its end, and all it had sent before may still come. */
    static boolean isToldBy(String farewell) {
        return farewell.startsWith(BEGINNING);
    }
}
