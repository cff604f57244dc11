package trigon.handshake;

/** The listening side has no path to the peer at this moment; the message says why. The peer may try again. */
public final class PeerUnreachableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** For that reason, which the peer is told. */
    public PeerUnreachableException(String message, Throwable cause) {
        super(message, cause);
    }
}
