/** The policy of this process; {@code native-entry} finds it as a service. */
module trigon.policy.host {
    requires org.slf4j;
    requires trigon.config;
    requires trigon.nccl;
    requires trigon.policy;
    requires trigon.system;
    requires trigon.trace;
    requires static org.jspecify;

    provides trigon.nccl.PolicyService with
            trigon.policy.host.ProcessPolicy;
}
