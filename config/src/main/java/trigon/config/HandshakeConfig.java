package trigon.config;

import java.time.Duration;
import java.util.Optional;

/**
 * Limits of the exchange that connects two ends, and of what is left of it while they are connected.
 *
 * @param timeout from the first attempt on one candidate path to its end; then the next candidate is tried; 100 ms to
 *     1 h
 * @param port TCP port of the listeners; 0 lets the kernel choose a free one for each address
 * @param peerTimeout how long a connected peer may be silent before it counts as lost; 2 s to 1 h
 * @param clusterKey what a peer has to know besides its handle; empty: the handle is enough
 */
public record HandshakeConfig(Duration timeout, int port, Duration peerTimeout, Optional<ClusterKey> clusterKey) {

    // before DEFAULT, whose constructor looks at them
    static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(100);
    static final Duration LONGEST_TIMEOUT = Duration.ofHours(1);
    static final int GREATEST_PORT = 65535;

    /** Two beats of a peer: with less, one that comes late would end a connection. */
    static final Duration SHORTEST_PEER_TIMEOUT = Duration.ofSeconds(2);

    static final Duration LONGEST_PEER_TIMEOUT = Duration.ofHours(1);

    static final String PEER_TIMEOUT_RANGE = "2s to 1h";

    /** Longer than TCP waits between two attempts after ten seconds without a link: those do no harm then. */
    private static final Duration DEFAULT_PEER_TIMEOUT = Duration.ofSeconds(20);

    /** What holds where nothing is set. */
    public static final HandshakeConfig DEFAULT = new HandshakeConfig(Duration.ofSeconds(10), 0);

    public HandshakeConfig {
        if (timeout.compareTo(SHORTEST_TIMEOUT) < 0 || timeout.compareTo(LONGEST_TIMEOUT) > 0) {
            throw new IllegalArgumentException("handshake timeout " + timeout + " is not from 100ms to 1h");
        }
        if (port < 0 || port > GREATEST_PORT) {
            throw new IllegalArgumentException("handshake port " + port + " is not in 0.." + GREATEST_PORT);
        }
        if (peerTimeout.compareTo(SHORTEST_PEER_TIMEOUT) < 0 || peerTimeout.compareTo(LONGEST_PEER_TIMEOUT) > 0) {
            throw new IllegalArgumentException("peer timeout " + peerTimeout + " is not from " + PEER_TIMEOUT_RANGE);
        }
    }

    /** With the default for silent peers, and without a cluster key. */
    public HandshakeConfig(Duration timeout, int port) {
        this(timeout, port, DEFAULT_PEER_TIMEOUT, Optional.empty());
    }

    /** The same with another cluster key. */
    HandshakeConfig with(Optional<ClusterKey> key) {
        return new HandshakeConfig(timeout, port, peerTimeout, key);
    }

    /** The same with another limit for silent peers. */
    HandshakeConfig with(Duration silence) {
        return new HandshakeConfig(timeout, port, silence, clusterKey);
    }
}
