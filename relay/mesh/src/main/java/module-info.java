/** Connections between nodes without a common link. */
module trigon.relay {
    requires transitive trigon.circuit;
    requires transitive trigon.hop;
    requires transitive trigon.routing;
    requires transitive trigon.system;
    requires transitive trigon.topology;
    requires jdk.net;
    requires org.slf4j;
    requires trigon.config;
    requires trigon.verbs;
    requires static org.jspecify;

    exports trigon.relay;
    exports trigon.relay.mesh;
}
