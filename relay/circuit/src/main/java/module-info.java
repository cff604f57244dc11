/** What is said to open a TCP connection through relays. */
module trigon.circuit {
    requires static org.jspecify;

    exports trigon.circuit;
}
