package trigon.transport.failover.search;

/** Answer to the question over one path whether a peer lives. */
enum Answer {
    /** The peer has proven itself. */
    ALIVE,
    /** Nobody listens there, or whoever does knows nothing of the connection. That takes no proof. */
    REFUSED,
    /** The peer's kernel takes the connection and its process says nothing: it is stopped, or starves. */
    STOPPED,
    /**
     * Nothing in time, though the link is up: a cable is cut, or the peer is stopped behind a relay. Or the peer has
     * proven itself, and the link's port is down: it lives, and is not led there.
     */
    SILENT,
    /** A relay on the path is gone, is full or admits nothing: that says nothing of the peer. */
    NO_CIRCUIT,
    /** No route leads to the peer over that path. */
    NO_PATH
}
