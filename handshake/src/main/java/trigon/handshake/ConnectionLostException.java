package trigon.handshake;

/** An end of a connection is lost for good, whatever paths it is offered; the message says why. */
public final class ConnectionLostException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** For that reason, which the peer is told. */
    public ConnectionLostException(String message) {
        super(message);
    }
}
