/** The settings: one optional YAML file for the cluster, and environment variables. */
module trigon.config {
    requires org.slf4j;
    requires static org.jspecify;

    exports trigon.config;
}
