/** Exchange of queue pair endpoints over TCP, without blocking. */
module trigon.handshake {
    requires transitive trigon.stream;
    requires transitive trigon.config;
    requires transitive trigon.system;
    requires transitive trigon.verbs;
    requires io.netty.buffer;
    requires io.netty.codec;
    requires io.netty.common;
    requires io.netty.transport;
    requires org.slf4j;
    requires trigon.trace;
    requires static org.jspecify;

    exports trigon.handshake;
    exports trigon.handshake.connect;
    exports trigon.handshake.lifeline;
    exports trigon.handshake.listen;
    exports trigon.handshake.message;
}
