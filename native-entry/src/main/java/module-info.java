/** NCCL's calls as they come from C, and the composition root behind them. */
module trigon.entry {
    requires ch.qos.logback.classic;
    requires ch.qos.logback.core;
    requires java.management;
    requires jdk.management;
    requires org.slf4j;
    requires trigon.config;
    requires trigon.handshake;
    requires trigon.stream;
    requires trigon.nccl;
    requires trigon.onesided;
    requires trigon.relay;
    requires trigon.routing;
    requires trigon.software;
    requires trigon.system;
    requires trigon.trace;
    requires trigon.transport;
    requires trigon.verbs;
    requires static org.jspecify;

    exports trigon.entry;

    uses trigon.entry.NetPluginFactory;
    uses trigon.nccl.PolicyService;

    provides ch.qos.logback.classic.spi.Configurator with
            trigon.entry.log.NcclLogConfigurator;
}
