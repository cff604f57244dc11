package trigon.transport.failover;

/** Outcome of an attempt to go on over other paths. */
enum Move {
    /** The session goes on over them. */
    MADE,
    /** One of them has not come up. */
    FAILED,
    /** The peer's end is lost, and this one is given up in a moment. */
    REFUSED
}
