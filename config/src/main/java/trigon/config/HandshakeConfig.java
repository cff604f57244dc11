package trigon.config;

import java.time.Duration;

/**
 * Limits of the exchange that connects two ends.
 *
 * @param timeout from the first attempt on one candidate path to its end; then the next candidate is tried
 * @param port TCP port of the listeners; 0 lets the kernel choose a free one for each address
 */
public record HandshakeConfig(Duration timeout, int port) {

    /** What holds where nothing is set. */
    public static final HandshakeConfig DEFAULT = new HandshakeConfig(Duration.ofSeconds(10), 0);

    public HandshakeConfig {
        if (timeout.compareTo(Duration.ofMillis(100)) < 0) {
            throw new IllegalArgumentException("handshake timeout " + timeout + " is shorter than 100 ms");
        }
        if (port < 0 || port > 65535) {
            throw new IllegalArgumentException("handshake port " + port + " is not in 0..65535");
        }
    }
}
