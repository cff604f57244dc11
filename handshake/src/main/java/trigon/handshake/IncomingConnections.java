package trigon.handshake;

import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.HandshakeException.Kind;
import trigon.handshake.HandshakeMessage.Offer;

/**
 * The connections that came in and are open, and what they may offer. The registrations are thread-safe, all else
 * belongs to the event loop.
 */
final class IncomingConnections {

    /** Strangers are closed, oldest first, beyond this many: a flood costs the flood, and few file descriptors. */
    static final int MAX_STRANGERS = 256;

    private static final Logger LOGGER = LoggerFactory.getLogger(HandshakeListeners.class);
    private static final Duration WARNING_INTERVAL = Duration.ofSeconds(10);
    private static final int MAX_REMEMBERED_PEERS = 1024;

    private final NodeIdentity self;
    private final Map<ConnectionId, Registration> registrations = new ConcurrentHashMap<>();
    private final Set<IncomingConnection> open = new HashSet<>();
    private final LinkedHashSet<IncomingConnection> strangers = new LinkedHashSet<>();
    private final Set<NodeIdentity> warnedOf = new HashSet<>();
    private final RateLimitedWarning strangerWarning =
            new RateLimitedWarning(LOGGER, WARNING_INTERVAL, System::nanoTime);
    private boolean closed;

    IncomingConnections(NodeIdentity self) {
        this.self = self;
    }

    void register(ConnectionId connection, Registration registration) {
        if (registrations.putIfAbsent(connection, registration) != null) {
            throw new IllegalStateException("connection " + connection + " is registered already");
        }
    }

    @Nullable
    Registration unregister(ConnectionId connection) {
        return registrations.remove(connection);
    }

    @Nullable
    Registration find(ConnectionId connection) {
        return registrations.get(connection);
    }

    void opened(IncomingConnection connection) {
        if (closed) {
            connection.close(); // accepted just before its socket was closed
            return;
        }
        open.add(connection);
        strangers.add(connection);
        if (strangers.size() > MAX_STRANGERS) {
            strangers
                    .removeFirst()
                    .fail(Kind.ABANDONED, "more than " + MAX_STRANGERS + " connections wait without an offer");
        }
    }

    /** A stranger has offered a registered connection. */
    void admitted(IncomingConnection connection, Offer offer) {
        strangers.remove(connection);
        NodeIdentity peer = offer.node();
        if (peer.configFingerprint() != self.configFingerprint()
                && warnedOf.size() < MAX_REMEMBERED_PEERS
                && warnedOf.add(peer)) {
            LOGGER.warn(
                    "{} and {} run with different settings; give all nodes the same configuration file", peer, self);
        }
    }

    void strangerFailed(HandshakeException cause) {
        strangerWarning.warn(String.valueOf(cause.getMessage()));
    }

    void closed(IncomingConnection connection) {
        open.remove(connection);
        strangers.remove(connection);
    }

    /** Closes all; attempts under way fail. */
    void close() {
        closed = true;
        registrations.clear();
        for (IncomingConnection connection : List.copyOf(open)) {
            connection.reject(Kind.ABANDONED, "the listener was closed");
            connection.close();
        }
    }
}
