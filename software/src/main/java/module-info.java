/** The verbs API over TCP, for links without RDMA NICs. */
module trigon.software {
    requires transitive trigon.stream;
    requires transitive trigon.system;
    requires transitive trigon.verbs;
    requires java.management;
    requires org.slf4j;
    requires static org.jspecify;

    exports trigon.software;
    exports trigon.software.device;
}
