package trigon.handshake.message;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** A handshake failed. The message says between which addresses, what was awaited, why, and what to do. */
public final class HandshakeException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** The kind of a failure, as far as the caller's next step depends on it. */
    public enum Kind {
        /** The TCP connection could not be made (no route, no such local address), or there is no path back. */
        UNREACHABLE,
        /** Nobody listens at the peer's address, as the kernel there says, or a firewall before it. */
        REFUSED,
        /** A relay on the route is gone, is full, or admits nothing: the peer has had no say in it. */
        NO_CIRCUIT,
        /** A firewall rejects the TCP connection, though the peer's hardware answers. */
        BLOCKED,
        /** The deadline passed. */
        TIMED_OUT,
        /** The peer, or the own handler, said no; the message has the reason. */
        REJECTED,
        /** The peer closed the connection, or died. */
        DISCONNECTED,
        /** The peer sent something that is not this protocol, or not this version of it. */
        PROTOCOL,
        /** The peer does not prove that it knows the connection's secret, or it has another cluster key. */
        UNAUTHENTICATED,
        /** This side gave up: abandoned, unregistered, superseded by a newer attempt, or closed. */
        ABANDONED,
        /** A listener could not be opened. */
        LISTEN
    }

    private final Kind kind;

    /**
     * A failure: the object, the reason and the remedy; with what the kernel or the peer's handler said, if anything.
     */
    public HandshakeException(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = Objects.requireNonNull(kind, "kind");
    }

    /** A failure: the object, the reason and the remedy. */
    public HandshakeException(Kind kind, String message) {
        this(kind, message, null);
    }

    /**
     * Returns whether the same may work a moment later: there was no path to the peer, no circuit, no own address to go
     * from, or no path back from the peer. A refusal is an answer, and stays one.
     */
    public boolean mayPass() {
        return kind == Kind.UNREACHABLE || kind == Kind.NO_CIRCUIT;
    }

    /** For callers that act on what went wrong; people read the message. */
    public Kind kind() {
        return kind;
    }

    /** A disagreement is logged on both sides; what else goes wrong is for whoever looks at the result to tell. */
    public void logTo(Logger logger) {
        switch (kind) {
            case REJECTED, PROTOCOL, UNAUTHENTICATED -> logger.warn("{}", getMessage());
            case UNREACHABLE, REFUSED, NO_CIRCUIT, BLOCKED, TIMED_OUT, DISCONNECTED, ABANDONED, LISTEN ->
                logger.debug("{}", getMessage());
        }
    }

    /**
     * Returns whether somebody there says no: nobody listens at an address that answers, or whoever does knows nothing
     * of the connection. Both are unproven. Only who knows the connection's secret proves anything, and who has lost
     * the connection does not: so it takes more to say that the peer is gone, for a firewall or another machine of that
     * address refuses alike.
     */
    public boolean isRefusal() {
        return switch (kind) {
            case REFUSED, REJECTED, UNAUTHENTICATED -> true;
            case UNREACHABLE, NO_CIRCUIT, BLOCKED, TIMED_OUT, DISCONNECTED, PROTOCOL, ABANDONED, LISTEN -> false;
        };
    }
}
