package trigon.nccl;

/** Who may have a say in how a connection is made. Asked on a control thread, before anything is tried. */
@FunctionalInterface
public interface ConnectionAdvice {

    /** Leaves every connection to the settings. */
    ConnectionAdvice NONE = question -> Advice.NONE;

    /**
     * Says how.
     *
     * @param question what is known of the connection
     */
    Advice on(Question question);

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
     * How it is to be made.
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
