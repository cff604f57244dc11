/** What people run by hand: the command {@code trigon}. */
module trigon.tools {
    requires info.picocli;
    requires jdk.net;
    requires trigon.config;
    requires trigon.routing;
    requires trigon.transport;
    requires trigon.verbs;
    requires static org.jspecify;

    exports trigon.tools;

    opens trigon.tools to
            info.picocli;
    opens trigon.tools.doctor to
            info.picocli;
    opens trigon.tools.links to
            info.picocli;
}
