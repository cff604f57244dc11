/** What every module takes from the machine. */
module trigon.system {
    requires static org.jspecify;

    exports trigon.system;
}
