package trigon.nccl;

/** Advice on how connections are made. Thread-safe. */
@FunctionalInterface
public interface ConnectionAdvice {

    /** Leaves every connection to the settings. */
    ConnectionAdvice NONE = question -> Advice.NONE;

    /**
     * Says how. Asked on a control thread, before anything is tried.
     *
     * @param question what is known of the connection
     */
    Advice on(Question question);

    /**
     * Names what decides for a communicator on this rank, for peers to compare, as NCCL hangs where ranks decide
     * differently. The same from the first question on until the communicator is closed. Asked on a control
     * thread: it may wait for a policy to be loaded.
     *
     * @param commId NCCL's hash of the communicator; 0: NCCL has not named it
     * @return the first 32 bits of the policy's SHA-256; 0: NCCL decides
     */
    default int policyOf(long commId) {
        return 0;
    }

    /** Nobody asks about a communicator any more. */
    default void closed(long commId) {}

    /**
     * A connection to be.
     *
     * @param peer the same number for the same peer
     * @param linkMbps speed of the fastest link that leads to it
     * @param links how many lead to it as directly
     * @param rdma whether they are RDMA links
     * @param relayed whether only relays lead to it
     * @param trafficClass NCCL's, or {@link NetPlugin#TRAFFIC_CLASS_UNDEFINED}
     */
    record Question(long peer, int linkMbps, int links, boolean rdma, boolean relayed, int trafficClass) {}

    /**
     * Advice on one connection.
     *
     * @param queuePairs of the connection in all; 0: as the settings say
     * @param links which it goes over at most; 0: as the settings say
     * @param trafficClass or {@link NetPlugin#TRAFFIC_CLASS_UNDEFINED}: the job's
     * @param relays whether it may go through relays
     */
    record Advice(int queuePairs, int links, int trafficClass, boolean relays) {

        /** As if nobody was asked. */
        public static final Advice NONE = new Advice(0, 0, NetPlugin.TRAFFIC_CLASS_UNDEFINED, true);

        /** The traffic class to use, where the job has one. */
        public int trafficClassOr(int ofJob) {
            return trafficClass == NetPlugin.TRAFFIC_CLASS_UNDEFINED ? ofJob : trafficClass;
        }
    }
}
