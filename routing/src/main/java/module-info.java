/** Local links by the peers that they reach. */
module trigon.routing {
    requires transitive trigon.config;
    requires transitive trigon.system;
    requires transitive trigon.verbs;
    requires static org.jspecify;
    requires org.slf4j;

    exports trigon.routing;
    exports trigon.routing.discovery;
    exports trigon.routing.hardware;
    exports trigon.routing.table;
}
