package trigon.software.responder;

/**
 * The requests of a connection are its, once {@link InboundConnection#adoptedBy} has said so. Called under its lock but
 * for what says otherwise.
 */
interface ConnectionOwner {

    /** The event loop has found something to do; it does not hold the lock. */
    void onReady();

    /** Does something under its lock. */
    void locked(Runnable action);

    /** Requests may come on it from now on: what carries them is known. */
    void onOpen(InboundConnection opened);

    /** The device is closed, and its socket is about to be; the event loop. */
    void onDeviceClosed();

    /** It has ended before it was open. */
    void onConnectionClosed(InboundConnection closed);
}
