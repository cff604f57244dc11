package trigon.policy.host;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import trigon.policy.VerifiedPolicy;

/**
 * The version of the policy that each communicator has from its first question to its end, whoever asks: its tuner, or
 * its connections, which tell it to peers. Thread-safe.
 */
final class CommunicatorVersions {

    private final Map<Long, Choice> choices = new ConcurrentHashMap<>();

    /** A communicator's version, empty if NCCL decides. */
    private record Choice(Optional<VerifiedPolicy> version, boolean isTold) {}

    /**
     * The version of a communicator.
     *
     * @param commId NCCL's number; 0: NCCL has not named it
     * @param now what it has if it begins now
     */
    Optional<VerifiedPolicy> of(long commId, Optional<VerifiedPolicy> now) {
        return commId == 0
                ? now
                : choices.computeIfAbsent(commId, _ -> new Choice(now, false)).version();
    }

    /** The same, to be told to a peer. */
    Optional<VerifiedPolicy> tell(long commId, Optional<VerifiedPolicy> now) {
        return commId == 0
                ? now
                : choices.compute(commId, (_, before) -> new Choice(before == null ? now : before.version(), true))
                        .version();
    }

    /**
     * Leaves a communicator to NCCL, since its version cannot be loaded.
     *
     * @return false if a peer has been told otherwise
     */
    boolean withdraw(long commId) {
        Choice now = choices.computeIfPresent(
                commId, (_, before) -> before.isTold() ? before : new Choice(Optional.empty(), false));
        return now != null && !now.isTold();
    }

    /** Nobody asks about a communicator any more. */
    void forget(long commId) {
        choices.remove(commId);
    }
}
