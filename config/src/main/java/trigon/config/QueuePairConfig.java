package trigon.config;

import java.util.OptionalInt;

/**
 * Attributes of the queue pairs, for the terms see ibv_modify_qp(3).
 *
 * @param gidIndex forces an entry of every port's GID table; empty: the entry is found by address and type
 * @param port physical port of a device; empty: any active one
 * @param trafficClass 8 bits of the global route (RoCE: DSCP and ECN); empty: NCCL's, else 0
 * @param serviceLevel InfiniBand service level, 0 to 15
 * @param timeout wait for an acknowledgement 4.096 us times 2 to this power; 1 to 31
 * @param retryCount retransmissions, 0 to 6: some devices take 7 for "without end", and then a dead peer is never noticed
 * @param rnrRetry retries after "receiver not ready", 0 to 7; 7 means without end
 * @param minRnrTimer code of the delay asked for when no receive is posted, 1 to 31 (12 is 0.64 ms)
 */
public record QueuePairConfig(
        OptionalInt gidIndex,
        OptionalInt port,
        OptionalInt trafficClass,
        int serviceLevel,
        int timeout,
        int retryCount,
        int rnrRetry,
        int minRnrTimer) {

    /** What holds where nothing is set. */
    public static final QueuePairConfig DEFAULT =
            new QueuePairConfig(OptionalInt.empty(), OptionalInt.empty(), OptionalInt.empty(), 0, 18, 6, 7, 12);

    public QueuePairConfig {
        gidIndex.ifPresent(QueuePairKey.GID_INDEX::require);
        port.ifPresent(QueuePairKey.PORT::require);
        trafficClass.ifPresent(QueuePairKey.TRAFFIC_CLASS::require);
        QueuePairKey.SERVICE_LEVEL.require(serviceLevel);
        QueuePairKey.TIMEOUT.require(timeout);
        QueuePairKey.RETRY_COUNT.require(retryCount);
        QueuePairKey.RNR_RETRY.require(rnrRetry);
        QueuePairKey.MIN_RNR_TIMER.require(minRnrTimer);
    }

    /** The value of one key as text, for the log. */
    String valueText(QueuePairKey key) {
        return switch (key) {
            case GID_INDEX -> orElse(gidIndex, "by address and type");
            case PORT -> orElse(port, "any active");
            case TRAFFIC_CLASS -> orElse(trafficClass, "NCCL's, else 0");
            case SERVICE_LEVEL -> Integer.toString(serviceLevel);
            case TIMEOUT -> Integer.toString(timeout);
            case RETRY_COUNT -> Integer.toString(retryCount);
            case RNR_RETRY -> Integer.toString(rnrRetry);
            case MIN_RNR_TIMER -> Integer.toString(minRnrTimer);
        };
    }

    private static String orElse(OptionalInt value, String otherwise) {
        return value.isPresent() ? Integer.toString(value.getAsInt()) : otherwise;
    }
}
