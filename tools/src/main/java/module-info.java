/** The command {@code trigon}. */
module trigon.tools {
    requires info.picocli;
    requires trigon.cluster;
    requires trigon.config;
    requires trigon.stream;
    requires trigon.relay;
    requires trigon.report;
    requires trigon.routing;
    requires trigon.system;
    requires trigon.transport;
    requires trigon.verbs;
    requires static org.jspecify;

    exports trigon.tools;
    exports trigon.tools.command;
    exports trigon.tools.console;
    exports trigon.tools.machine;
    exports trigon.tools.nodes;

    opens trigon.tools to
            info.picocli;
    opens trigon.tools.bench to
            info.picocli;
    opens trigon.tools.command to
            info.picocli;
    opens trigon.tools.demo to
            info.picocli;
    opens trigon.tools.doctor to
            info.picocli;
    opens trigon.tools.enable to
            info.picocli;
    opens trigon.tools.env to
            info.picocli;
    opens trigon.tools.explain to
            info.picocli;
    opens trigon.tools.metrics to
            info.picocli;
    opens trigon.tools.nodes to
            info.picocli;
    opens trigon.tools.plan to
            info.picocli;
    opens trigon.tools.links to
            info.picocli;
    opens trigon.tools.relay to
            info.picocli;
    opens trigon.tools.report to
            info.picocli;
    opens trigon.tools.support to
            info.picocli;
    opens trigon.tools.up to
            info.picocli;
    opens trigon.tools.verify to
            info.picocli;

    uses trigon.tools.command.CommandProvider;
}
