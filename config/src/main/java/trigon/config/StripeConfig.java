package trigon.config;

/**
 * How many queue pairs a connection has, and over which links; the connecting side's settings count.
 *
 * @param links over which of the links that lead to the peer
 * @param queuePairsPerLink queue pairs of a connection on each of them, 1 to 4
 */
public record StripeConfig(StripePolicy links, int queuePairsPerLink) {

    // before DEFAULT, whose constructor looks at it
    static final int MOST_QUEUE_PAIRS_PER_LINK = 4;

    /** What holds where nothing is set. */
    public static final StripeConfig DEFAULT = new StripeConfig(StripePolicy.AUTO, 1);

    public StripeConfig {
        if (queuePairsPerLink < 1 || queuePairsPerLink > MOST_QUEUE_PAIRS_PER_LINK) {
            throw new IllegalArgumentException("%d queue pairs for each link is not in 1..%d"
                    .formatted(queuePairsPerLink, MOST_QUEUE_PAIRS_PER_LINK));
        }
    }

    /**
     * The most links that a connection goes over.
     *
     * @param rdma whether they are RDMA links
     * @param mostQueuePairs of a connection in all; at least as many as there may be on one link
     */
    public int mostLinks(boolean rdma, int mostQueuePairs) {
        return links.allOn(rdma) ? mostQueuePairs / queuePairsPerLink : 1;
    }

    StripeConfig with(StripePolicy other) {
        return new StripeConfig(other, queuePairsPerLink);
    }

    StripeConfig with(int queuePairs) {
        return new StripeConfig(links, queuePairs);
    }
}
