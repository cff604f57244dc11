/** Puts, gets and signals between NCCL's ranks, made of the transport's messages. */
module trigon.onesided {
    requires org.slf4j;
    requires trigon.nccl;
    requires transitive trigon.system;
    requires static org.jspecify;

    exports trigon.onesided;
    exports trigon.onesided.cuda;
    exports trigon.onesided.group;
    exports trigon.onesided.memory;
}
