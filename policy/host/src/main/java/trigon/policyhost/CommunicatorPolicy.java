package trigon.policyhost;

import trigon.policy.PolicyHost;
import trigon.policyhost.decision.Decisions;

/**
 * What decides for one communicator.
 *
 * @param host the version of the policy that it began with, on maps of its own
 * @param decisions the answers of its tuner
 */
public record CommunicatorPolicy(PolicyHost host, Decisions decisions) {}
