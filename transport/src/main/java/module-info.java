/** NCCL's network calls, made of routing, handshake and queue pairs. */
module trigon.transport {
    requires org.slf4j;
    requires transitive trigon.verbs;
    requires static org.jspecify;

    exports trigon.transport;
}
