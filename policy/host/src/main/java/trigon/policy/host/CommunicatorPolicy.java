package trigon.policy.host;

import trigon.policy.PolicyHost;
import trigon.policy.host.decision.Decisions;

/**
 * What decides for one communicator.
 *
 * @param host the version of the policy that it began with, on maps of its own
 * @param decisions the answers of its tuner
 */
public record CommunicatorPolicy(PolicyHost host, Decisions decisions) {}
