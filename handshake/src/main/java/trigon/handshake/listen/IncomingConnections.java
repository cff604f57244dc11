package trigon.handshake.listen;

import java.util.Collections;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import trigon.config.cluster.ClusterKey;
import trigon.handshake.lifeline.PeerChannel;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.handshake.message.NodeIdentity;
import trigon.system.NanoClock;
import trigon.system.RareMessage;

/**
 * The connections that came in and are open, and what they may offer. The registrations are thread-safe, all else
 * belongs to the event loop.
 */
final class IncomingConnections {

    private static final Logger LOGGER = LoggerFactory.getLogger(IncomingConnections.class);
    private static final int MAX_REMEMBERED_PEERS = 1024;

    private final NodeIdentity self;
    private final Optional<ClusterKey> clusterKey;
    private final Map<ConnectionId, Registration> registrations = new ConcurrentHashMap<>();
    private final Set<ConnectionId> ended = Collections.synchronizedSet(latest(MAX_REMEMBERED_PEERS));
    private final Set<IncomingConnection> open = new HashSet<>();
    private final UnauthenticatedConnections unauthenticated = new UnauthenticatedConnections();
    private final Set<NodeIdentity> warnedOf = new HashSet<>();
    /** Failures of each kind: a flood of one hides no other. */
    private final Map<Kind, RareMessage> failures = new EnumMap<>(Kind.class);

    private boolean closed;

    IncomingConnections(NodeIdentity self, Optional<ClusterKey> clusterKey, NanoClock clock) {
        this.self = self;
        this.clusterKey = clusterKey;
        for (Kind kind : Kind.values()) {
            failures.put(kind, new RareMessage(LOGGER, Level.WARN, clock));
        }
    }

    /** A set of so many that were added last. */
    private static Set<ConnectionId> latest(int most) {
        return Collections.newSetFromMap(new LinkedHashMap<>() {

            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<ConnectionId, Boolean> eldest) {
                return size() > most;
            }
        });
    }

    void register(ConnectionId connection, Registration registration) {
        if (registrations.putIfAbsent(connection, registration) != null) {
            throw new IllegalStateException("connection " + connection + " is registered already");
        }
    }

    void replace(ConnectionId connection, Registration registration) {
        registrations.put(connection, registration);
    }

    @Nullable
    Registration unregister(ConnectionId connection) {
        ended.add(connection);
        return registrations.remove(connection);
    }

    /**
     * Returns whether it has ended here a short while ago: its peer may ask whether it lives before it hears of that.
     */
    boolean hasEnded(ConnectionId connection) {
        return ended.contains(connection);
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
        PeerChannel channel = connection.channel();
        if (channel != null && channel.opening().length > 0) {
            return; // its peer is known
        }
        IncomingConnection oneTooMany = unauthenticated.add(connection);
        if (oneTooMany != null) {
            unauthenticated.remove(oneTooMany);
            oneTooMany.fail(
                    Kind.ABANDONED,
                    "more than %d connections from one address, or %d in all, have not identified themselves"
                            .formatted(UnauthenticatedConnections.MAX_PER_ADDRESS, UnauthenticatedConnections.MAX));
        }
    }

    /** The key that all nodes share, if there is one. */
    Optional<ClusterKey> clusterKey() {
        return clusterKey;
    }

    /** A peer has proven that it knows a registered connection's secret. */
    void admitted(IncomingConnection connection, Offer offer) {
        unauthenticated.remove(connection);
        NodeIdentity peer = offer.node();
        if (peer.configFingerprint() != self.configFingerprint()
                && warnedOf.size() < MAX_REMEMBERED_PEERS
                && warnedOf.add(peer)) {
            LOGGER.warn(
                    "{} and {} run with different settings; give all nodes the same configuration file", peer, self);
        }
    }

    /**
     * A connection ended before its peer had proven anything: at worst somebody else, at best a mistake to be mended.
     */
    void unauthenticatedFailed(HandshakeException cause) {
        Objects.requireNonNull(failures.get(cause.kind())).log(String.valueOf(cause.getMessage()));
    }

    /** The number of connections that have proven nothing. */
    int unauthenticated() {
        return unauthenticated.size();
    }

    void closed(IncomingConnection connection) {
        open.remove(connection);
        unauthenticated.remove(connection);
    }

    /** Closes all; attempts under way fail. */
    void close() {
        closed = true;
        registrations.clear();
        for (IncomingConnection connection : List.copyOf(open)) {
            connection.reject(Kind.ABANDONED, "the listener was closed");
            connection.letGo();
        }
    }
}
