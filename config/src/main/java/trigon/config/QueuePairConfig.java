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
        gidIndex.ifPresent(index -> require("GID index", index, 0, 255));
        port.ifPresent(number -> require("port", number, 1, 255));
        trafficClass.ifPresent(value -> require("traffic class", value, 0, 255));
        require("service level", serviceLevel, 0, 15);
        require("timeout", timeout, 1, 31);
        require("retry count", retryCount, 0, 6);
        require("RNR retry", rnrRetry, 0, 7);
        require("minimum RNR timer", minRnrTimer, 1, 31);
    }

    private static void require(String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(what + " " + value + " is not in " + least + ".." + most);
        }
    }
}
