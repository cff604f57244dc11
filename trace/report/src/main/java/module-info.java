/** What traces tell. */
module trigon.report {
    requires com.google.protobuf;
    requires trigon.trace;
    requires static org.jspecify;

    exports trigon.report.summary;
    exports trigon.report.model;
    exports trigon.report.path;
    exports trigon.report.read;
    exports trigon.report.view;
}
