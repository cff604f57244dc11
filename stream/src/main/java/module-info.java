/** A byte stream over one link, by TCP or by chunks of RDMA, and what is said to open one through relays. */
module trigon.stream {
    requires transitive trigon.system;
    requires transitive trigon.verbs;
    requires org.slf4j;
    requires trigon.qpstate;
    requires static org.jspecify;

    exports trigon.stream.circuit;
    exports trigon.stream.hop;
}
