package trigon.handshake;

import org.jspecify.annotations.Nullable;
import trigon.handshake.HandshakeException.Kind;

/**
 * A connection that is waited for, and the attempt at it that is under way. Event loop only, but for the secret and the
 * handler.
 */
final class Registration {

    private final ConnectionSecret secret;
    private final OfferHandler handler;
    private @Nullable IncomingConnection current;
    private boolean connected;

    Registration(ConnectionSecret secret, OfferHandler handler) {
        this.secret = secret;
        this.handler = handler;
    }

    ConnectionSecret secret() {
        return secret;
    }

    OfferHandler handler() {
        return handler;
    }

    /** Whether a link came of it: there is only one. */
    boolean isConnected() {
        return connected;
    }

    /**
     * A new attempt begins. The peer has only one at a time, so it has given up the former one, even where the news of
     * that is lost on a dead path.
     */
    void supersede(IncomingConnection by) {
        if (current != null) {
            current.fail(Kind.ABANDONED, "the peer tries another path");
        }
        current = by;
    }

    void connected() {
        connected = true;
        current = null;
    }

    void ended(IncomingConnection attempt) {
        if (current == attempt) {
            current = null;
        }
    }

    void unregistered() {
        if (current != null) {
            current.reject(Kind.ABANDONED, "the listener was closed");
        }
    }
}
