package trigon.transport.connect;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.message.NodeIdentity;

/**
 * Policy by which this rank decides for a communicator. NCCL does not compare the decisions of its ranks, and hangs
 * where they differ, so connections compare what decides: the policy, and the built-in tuner behind it.
 *
 * @param commId NCCL's hash of the communicator; 0: NCCL has not named it
 * @param fingerprint of the policy; 0: NCCL decides
 */
public record DecidingPolicy(long commId, int fingerprint) {

    private static final Logger log = LoggerFactory.getLogger(DecidingPolicy.class);

    /**
     * Refuses a peer that decides by something else. Where NCCL has not named the communicator, the policy may be one
     * of a communicator that began earlier or later, so there is only a warning. The tuner is the process's.
     *
     * @throws DifferentDecisionsException whose message names both nodes, what decides there, and what to do
     */
    void requireSame(NodeIdentity self, NodeIdentity peer) {
        if (peer.tuner() != self.tuner()) {
            throw new DifferentDecisionsException(("%s and %s, and NCCL hangs when ranks decide differently: set"
                            + " TRIGON_TUNING to the same value on all nodes, and install the same Trigon there")
                    .formatted(tunes(self), tunes(peer)));
        }
        if (peer.policy() == fingerprint) {
            return;
        }
        String what = ("%s and %s, and NCCL hangs when ranks decide differently: set TRIGON_POLICY to the same"
                        + " file on all nodes, or on none; each node's log shows which policy it loaded")
                .formatted(decides(self.name(), fingerprint), decides(peer.name(), peer.policy()));
        if (commId == 0) {
            log.warn("{}", what);
        } else {
            throw new DifferentDecisionsException("communicator 0x%x: %s".formatted(commId, what));
        }
    }

    private static String tunes(NodeIdentity node) {
        return node.tuner() == 0
                ? node.name() + " has its built-in tuner off"
                : "%s has version %d of the built-in tuner on".formatted(node.name(), node.tuner());
    }

    private static String decides(String node, int policy) {
        return policy == 0 ? node + " has no policy" : "%s decides by policy %08x".formatted(node, policy);
    }

    /** Two ends of a connection whose ranks would decide differently. */
    static final class DifferentDecisionsException extends RuntimeException {
        private static final long serialVersionUID = 1;

        DifferentDecisionsException(String message) {
            super(message);
        }
    }
}
