/** Connections between nodes without a common link. */
module trigon.relay {
    requires transitive trigon.config;
    requires transitive trigon.routing;
    requires transitive trigon.stream;
    requires transitive trigon.system;
    requires jdk.net;
    requires org.slf4j;
    requires trigon.verbs;
    requires static org.jspecify;

    exports trigon.relay;
    exports trigon.relay.mesh;
    exports trigon.relay.table;
    exports trigon.relay.topology;
    exports trigon.relay.topology.announce;
}
