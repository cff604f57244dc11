/** Which nodes, links and neighbours there are. */
module trigon.topology {
    requires transitive trigon.config;
    requires transitive trigon.system;
    requires org.slf4j;
    requires static org.jspecify;

    exports trigon.topology;
    exports trigon.topology.announce;
}
