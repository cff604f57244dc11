/** NCCL's network calls, made of routing, handshake and queue pairs. */
module trigon.transport {
    requires org.slf4j;
    requires trigon.handshake;
    requires trigon.qpstate;
    requires trigon.trace;
    requires transitive trigon.stream;
    requires transitive trigon.config;
    requires transitive trigon.nccl;
    requires transitive trigon.routing;
    requires transitive trigon.system;
    requires transitive trigon.verbs;
    requires static org.jspecify;

    exports trigon.transport.metrics;
    exports trigon.transport.plugin;
    exports trigon.transport.request;
}
