/** The verbs API, and libibverbs behind it. */
module trigon.verbs {
    requires org.slf4j;
    requires transitive trigon.system;
    requires static org.jspecify;

    exports trigon.verbs;
    exports trigon.verbs.ffm;
}
