/** The settings: one optional YAML file for the cluster, and environment variables. */
module trigon.config {
    requires com.fasterxml.jackson.core;
    requires com.fasterxml.jackson.dataformat.yaml;
    requires transitive trigon.system;
    requires static org.jspecify;

    exports trigon.config;
    exports trigon.config.cluster;
    exports trigon.config.file;
    exports trigon.config.setting;
}
