package trigon.config;

import java.time.Duration;
import java.util.Optional;

/**
 * Limits of the exchange that connects two ends.
 *
 * @param timeout from the first attempt on one candidate path to its end; then the next candidate is tried; 100 ms to
 *     1 h
 * @param port TCP port of the listeners; 0 lets the kernel choose a free one for each address
 * @param clusterKey what a peer has to know besides its handle; empty: the handle is enough
 */
public record HandshakeConfig(Duration timeout, int port, Optional<ClusterKey> clusterKey) {

    // before DEFAULT, whose constructor looks at them
    static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(100);
    static final Duration LONGEST_TIMEOUT = Duration.ofHours(1);
    static final int GREATEST_PORT = 65535;

    /** What holds where nothing is set. */
    public static final HandshakeConfig DEFAULT = new HandshakeConfig(Duration.ofSeconds(10), 0);

    public HandshakeConfig {
        if (timeout.compareTo(SHORTEST_TIMEOUT) < 0 || timeout.compareTo(LONGEST_TIMEOUT) > 0) {
            throw new IllegalArgumentException("handshake timeout " + timeout + " is not from 100ms to 1h");
        }
        if (port < 0 || port > GREATEST_PORT) {
            throw new IllegalArgumentException("handshake port " + port + " is not in 0.." + GREATEST_PORT);
        }
    }

    /** Without a cluster key. */
    public HandshakeConfig(Duration timeout, int port) {
        this(timeout, port, Optional.empty());
    }

    /** The same with another cluster key. */
    HandshakeConfig with(Optional<ClusterKey> key) {
        return new HandshakeConfig(timeout, port, key);
    }
}
