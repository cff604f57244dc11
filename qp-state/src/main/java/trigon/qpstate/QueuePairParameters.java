package trigon.qpstate;

/**
 * A queue pair's reaction to loss and slow peers, the same for every peer; for the terms see ibv_modify_qp(3).
 *
 * @param timeout wait for an acknowledgement 4.096 us times 2 to this power; 1 to 31 (0, for ever, would hide a dead
 *     peer)
 * @param retryCount retransmissions before the request fails with RETRY_EXCEEDED, 0 to 7
 * @param rnrRetry retries after "receiver not ready", 0 to 7; 7 means without end
 * @param minRnrTimer code of the delay that the peer is asked for when no receive is posted here, 0 to 31
 * @param maxReadAtomic READs and atomics to have outstanding at the peer, 0 to 255
 * @param maxDestinationReadAtomic READs and atomics the peer may have outstanding here, 0 to 255
 */
public record QueuePairParameters(
        int timeout, int retryCount, int rnrRetry, int minRnrTimer, int maxReadAtomic, int maxDestinationReadAtomic) {

    public QueuePairParameters {
        require("timeout", timeout, 1, 31);
        require("retry count", retryCount, 0, 7);
        require("RNR retry", rnrRetry, 0, 7);
        require("minimum RNR timer", minRnrTimer, 0, 31);
        require("outstanding READs and atomics", maxReadAtomic, 0, 255);
        require("outstanding READs and atomics of the peer", maxDestinationReadAtomic, 0, 255);
    }

    private static void require(String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(what + " " + value + " is not in " + least + ".." + most);
        }
    }
}
