/** Byte streams to peers, straight or through relays, over TCP or chunks by RDMA. */
module trigon.stream {
    requires transitive trigon.system;
    requires transitive trigon.verbs;
    requires jdk.net;
    requires org.slf4j;
    requires trigon.qpstate;
    requires static org.jspecify;

    exports trigon.stream;
    exports trigon.stream.circuit;
    exports trigon.stream.dial;
    exports trigon.stream.hop;
    exports trigon.stream.loop;
}
