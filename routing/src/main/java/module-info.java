/** Which local link reaches which peer. */
module trigon.routing {
    requires transitive trigon.config;
    requires transitive trigon.verbs;
    requires static org.jspecify;

    exports trigon.routing;
}
