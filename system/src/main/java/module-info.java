/** The machine, as every module uses it. */
module trigon.system {
    requires org.slf4j;
    requires static org.jspecify;

    exports trigon.system;
    exports trigon.system.file;
    exports trigon.system.kernel;
}
