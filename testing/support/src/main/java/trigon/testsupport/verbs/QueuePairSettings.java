package trigon.testsupport.verbs;

import java.util.Optional;
import java.util.Set;
import trigon.verbs.AccessFlag;
import trigon.verbs.ConnectionKey;

/**
 * Settings of a test's queue pairs; for the terms see ibv_modify_qp(3). Start with {@link #DEFAULT}.
 *
 * @param workRequests depth of each queue
 * @param completions entries of each completion queue
 * @param inlineBytes longest inline payload
 * @param access what the peer may do
 * @param psn first PSN
 * @param readAtomic READs and atomics outstanding, either way
 * @param timeout code of the time to wait for an acknowledgement
 * @param retryCount at most 6: SoftRoCE takes 7 for "without end"
 * @param rnrRetry 7 is "without end"
 * @param minRnrTimer code of the delay that a receiver asks for while it has no receive posted
 * @param key what the ends are to prove to each other that they know; empty for no proof
 */
public record QueuePairSettings(
        int workRequests,
        int completions,
        int inlineBytes,
        Set<AccessFlag> access,
        int psn,
        int readAtomic,
        int timeout,
        int retryCount,
        int rnrRetry,
        int minRnrTimer,
        Optional<ConnectionKey> key) {

    /** Fits most tests: about a second until a silent peer is given up. */
    public static final QueuePairSettings DEFAULT =
            new QueuePairSettings(64, 256, 32, VerbsEnd.ALL_ACCESS, 0xFF_FFF0, 4, 15, 6, 7, 12, Optional.empty());

    public QueuePairSettings withAccess(Set<AccessFlag> flags) {
        return new QueuePairSettings(
                workRequests,
                completions,
                inlineBytes,
                flags,
                psn,
                readAtomic,
                timeout,
                retryCount,
                rnrRetry,
                minRnrTimer,
                key);
    }

    public QueuePairSettings withRnr(int retry, int timer) {
        return new QueuePairSettings(
                workRequests,
                completions,
                inlineBytes,
                access,
                psn,
                readAtomic,
                timeout,
                retryCount,
                retry,
                timer,
                key);
    }

    public QueuePairSettings withKey(ConnectionKey known) {
        return new QueuePairSettings(
                workRequests,
                completions,
                inlineBytes,
                access,
                psn,
                readAtomic,
                timeout,
                retryCount,
                rnrRetry,
                minRnrTimer,
                Optional.of(known));
    }

    public QueuePairSettings withTimeout(int code) {
        return new QueuePairSettings(
                workRequests,
                completions,
                inlineBytes,
                access,
                psn,
                readAtomic,
                code,
                retryCount,
                rnrRetry,
                minRnrTimer,
                key);
    }
}
