/** The life cycle of a reliable connected queue pair: states, transitions, attribute masks. */
module trigon.qpstate {
    requires transitive trigon.verbs;
    requires jdk.jfr;
    requires org.slf4j;
    requires trigon.trace;
    requires static org.jspecify;

    exports trigon.qpstate;
}
