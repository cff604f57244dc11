/** What carries a relayed connection over one link: a socket, or chunks by RDMA. */
module trigon.hop {
    requires transitive trigon.system;
    requires transitive trigon.verbs;
    requires org.slf4j;
    requires trigon.qpstate;
    requires static org.jspecify;

    exports trigon.hop;
}
