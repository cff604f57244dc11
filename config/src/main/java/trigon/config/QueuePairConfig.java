package trigon.config;

import java.util.Optional;
import java.util.OptionalInt;
import trigon.config.setting.SettingValues;

/**
 * Attributes of the queue pairs, for the terms see ibv_modify_qp(3).
 *
 * @param gidIndex the entry of every port's GID table to use; empty: the entry is found by address and type
 * @param port physical port of a device; empty: any active one
 * @param trafficClass 8 bits of the global route (RoCE: DSCP and ECN); empty: NCCL's, else 0
 * @param serviceLevel InfiniBand service level, 0 to 15
 * @param timeout wait for an acknowledgement 4.096 us times 2 to this power; 1 to 31
 * @param retryCount retransmissions, 0 to 6: some devices take 7 for "without end", and then a dead peer is never
 *     noticed
 * @param rnrRetry retries after "receiver not ready", 0 to 7; 7 means without end
 * @param minRnrTimer code of the delay that a receiver asks for while it has no receive posted, 1 to 31 (12 is 0.64 ms)
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

    /** The values where nothing is set. */
    public static final QueuePairConfig DEFAULT = of(SettingValues.DEFAULTS);

    public QueuePairConfig {
        gidIndex.ifPresent(value -> Settings.GID_INDEX.require(Optional.of(value)));
        port.ifPresent(value -> Settings.PORT.require(Optional.of(value)));
        trafficClass.ifPresent(value -> Settings.TRAFFIC_CLASS.require(Optional.of(value)));
        Settings.SERVICE_LEVEL.require(serviceLevel);
        Settings.TIMEOUT.require(timeout);
        Settings.RETRY_COUNT.require(retryCount);
        Settings.RNR_RETRY.require(rnrRetry);
        Settings.MIN_RNR_TIMER.require(minRnrTimer);
    }

    /** 1.1 s nominally, so that pauses of congested switches are no failures; ConnectX-6 takes 1.5 s. */
    QueuePairConfig givingUpSoon() {
        return new QueuePairConfig(gidIndex, port, trafficClass, serviceLevel, 16, 3, rnrRetry, minRnrTimer);
    }

    static QueuePairConfig of(SettingValues settings) {
        return new QueuePairConfig(
                unboxed(settings.get(Settings.GID_INDEX).value()),
                unboxed(settings.get(Settings.PORT).value()),
                unboxed(settings.get(Settings.TRAFFIC_CLASS).value()),
                settings.get(Settings.SERVICE_LEVEL).value(),
                settings.get(Settings.TIMEOUT).value(),
                settings.get(Settings.RETRY_COUNT).value(),
                settings.get(Settings.RNR_RETRY).value(),
                settings.get(Settings.MIN_RNR_TIMER).value());
    }

    private static OptionalInt unboxed(Optional<Integer> value) {
        return value.isPresent() ? OptionalInt.of(value.get()) : OptionalInt.empty();
    }
}
