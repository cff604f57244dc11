/** Fixtures shared by the modules' tests. */
module trigon.testsupport {
    requires transitive trigon.system;
    requires transitive trigon.verbs;
    requires transitive org.junit.jupiter.api;
    requires org.junit.jupiter.params;
    requires jdk.management;
    requires org.assertj.core;
    requires static org.jspecify;

    exports trigon.testsupport;
    exports trigon.testsupport.verbs;
}
