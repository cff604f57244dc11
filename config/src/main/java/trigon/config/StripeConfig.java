package trigon.config;

import trigon.config.setting.SettingValues;
import trigon.config.setting.StripePolicy;

/**
 * Queue pairs of a connection, and their links; the connecting side's settings count.
 *
 * @param links over which of the links that lead to the peer
 * @param queuePairsPerLink queue pairs of a connection on each of them, 1 to 4
 */
public record StripeConfig(StripePolicy links, int queuePairsPerLink) {

    /** The values where nothing is set. */
    public static final StripeConfig DEFAULT = of(SettingValues.DEFAULTS);

    public StripeConfig {
        Settings.QUEUE_PAIRS_PER_LINK.require(queuePairsPerLink);
    }

    static StripeConfig of(SettingValues settings) {
        return new StripeConfig(
                settings.get(Settings.STRIPE_LINKS).value(),
                settings.get(Settings.QUEUE_PAIRS_PER_LINK).value());
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
}
