/** The policy of this process, and who decides by it. */
module trigon.policy.host {
    requires org.slf4j;
    requires transitive trigon.config;
    requires transitive trigon.nccl;
    requires transitive trigon.policy;
    requires trigon.system;
    requires transitive trigon.trace;
    requires static org.jspecify;

    exports trigon.policy.host;
    exports trigon.policy.host.decision;
}
