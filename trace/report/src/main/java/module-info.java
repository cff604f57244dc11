/** Reads the traces of a run, finds what each collective waited for, and shows it. No part of the plugin. */
module trigon.report {
    requires com.fasterxml.jackson.core;
    requires com.google.protobuf;
    requires trigon.system;
    requires trigon.trace;
    requires static org.jspecify;

    exports trigon.report.summary;
    exports trigon.report.model;
    exports trigon.report.path;
    exports trigon.report.read;
    exports trigon.report.view;
}
