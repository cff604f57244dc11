/** The model of a cluster: facts of its nodes, probes of its links, and what is wrong with them. */
module trigon.cluster {
    requires com.fasterxml.jackson.annotation;
    requires com.fasterxml.jackson.core;
    requires com.fasterxml.jackson.databind;
    requires jdk.net;
    requires trigon.config;
    requires trigon.qpstate;
    requires trigon.routing;
    requires trigon.system;
    requires trigon.verbs;
    requires static org.jspecify;

    exports trigon.cluster.diagnosis;
    exports trigon.cluster.facts;
    exports trigon.cluster.json;
    exports trigon.cluster.machine;
    exports trigon.cluster.probe;
    exports trigon.cluster.rdma;

    opens trigon.cluster.facts to
            com.fasterxml.jackson.databind;
    opens trigon.cluster.machine to
            com.fasterxml.jackson.databind;
    opens trigon.cluster.probe to
            com.fasterxml.jackson.databind;
    opens trigon.cluster.rdma to
            com.fasterxml.jackson.databind;
}
