/** The verbs API, and libibverbs behind it. */
module trigon.verbs {
    requires transitive trigon.system;
    requires org.slf4j;
    requires static org.jspecify;

    exports trigon.verbs;
    exports trigon.verbs.ffm;
}
