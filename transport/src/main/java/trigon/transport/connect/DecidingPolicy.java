package trigon.transport.connect;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.setting.TuningUse;
import trigon.handshake.message.Decider;
import trigon.handshake.message.NodeIdentity;
import trigon.nccl.TunerAdvice;

/**
 * Policy by which this rank decides for a communicator. NCCL does not compare the decisions of its ranks, and hangs
 * where they differ, so connections compare what decides: the policy, and the built-in tuner behind it.
 *
 * @param commId NCCL's hash of the communicator; 0: NCCL has not named it
 * @param fingerprint of the policy; 0: NCCL decides
 */
public record DecidingPolicy(long commId, int fingerprint) {

    private static final Logger log = LoggerFactory.getLogger(DecidingPolicy.class);

    /** The process's own part in it, by its settings; no communicator has a policy yet. */
    public static Decider ofProcess(PluginConfig config) {
        return new Decider(
                config.value(Settings.TUNING) == TuningUse.AUTO ? TunerAdvice.BUILT_IN_VERSION : 0,
                config.value(Settings.POLICY_FILE).isPresent(),
                0);
    }

    /**
     * Refuses a peer that decides by something else. Where NCCL has not named the communicator, the policies of both
     * may be those of one that began earlier or later, so there is only a warning. The tuner is the process's, as is
     * whether there is a policy at all.
     *
     * @throws DifferentDecisionsException whose message names both nodes, what decides there, and what to do
     */
    void requireSame(NodeIdentity self, NodeIdentity peer) {
        if (peer.decider().tuner() != self.decider().tuner()) {
            throw new DifferentDecisionsException(("%s and %s, and NCCL hangs when ranks decide differently: set"
                            + " TRIGON_TUNING to the same value on all nodes, and install the same Trigon there")
                    .formatted(tunes(self), tunes(peer)));
        }
        if (peer.devices() != self.devices()) {
            throw new DifferentDecisionsException(("devices is %d on %s and %d on %s, and NCCL needs the same number on"
                            + " all nodes: copy the cluster file to all of them")
                    .formatted(self.devices(), self.name(), peer.devices(), peer.name()));
        }
        NodeIdentity own = self.decidingBy(fingerprint);
        if (peer.decider().policy() == fingerprint) {
            return;
        }
        String what = ("%s and %s, and NCCL hangs when ranks decide differently: set TRIGON_POLICY to the same"
                        + " file on all nodes, or on none; each node's log shows which policy it loaded")
                .formatted(decides(own), decides(peer));
        if (commId != 0) {
            throw new DifferentDecisionsException("communicator 0x%x: %s".formatted(commId, what));
        }
        if (own.decider().hasPolicy() != peer.decider().hasPolicy()) {
            throw new DifferentDecisionsException(what);
        }
        log.warn("{}", what);
    }

    private static String tunes(NodeIdentity node) {
        int version = node.decider().tuner();
        return version == 0
                ? node.name() + " has its built-in tuner off"
                : "%s has version %d of the built-in tuner on".formatted(node.name(), version);
    }

    private static String decides(NodeIdentity node) {
        int policy = node.decider().policy();
        if (policy != 0) {
            return "%s decides by policy %08x".formatted(node.name(), policy);
        }
        return node.name() + (node.decider().hasPolicy() ? " has a policy that does not decide" : " has no policy");
    }

    /** Two ends of a connection whose ranks would decide differently. */
    static final class DifferentDecisionsException extends RuntimeException {
        private static final long serialVersionUID = 1;

        DifferentDecisionsException(String message) {
            super(message);
        }
    }
}
