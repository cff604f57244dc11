/** The recorder: rings of fixed records, and the files they are drained into. */
module trigon.trace {
    requires org.slf4j;
    requires trigon.system;
    requires static org.jspecify;

    exports trigon.trace;
}
