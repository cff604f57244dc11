package trigon.config;

import java.time.Duration;
import java.util.Optional;
import trigon.config.cluster.ClusterKey;
import trigon.config.setting.SettingValues;
import trigon.system.PortRange;

/**
 * Limits of the exchange that connects two ends, and of what is left of it while they are connected.
 *
 * @param timeout from the first attempt on one candidate path to its end; then the next candidate is tried; 100 ms to
 *     1 h
 * @param ports of the listeners, a free one for each address
 * @param peerTimeout how long a connected peer may be silent before it counts as lost; 2 s to 1 h
 * @param stoppedTimeout the same while the peer's kernel answers, so that its process is stopped; never less than the
 *     peer's
 * @param clusterKey what a peer has to know besides its handle; empty: the handle is enough
 */
public record HandshakeConfig(
        Duration timeout,
        PortRange ports,
        Duration peerTimeout,
        Duration stoppedTimeout,
        Optional<ClusterKey> clusterKey) {

    /** The values where nothing is set. */
    public static final HandshakeConfig DEFAULT = of(SettingValues.DEFAULTS, Optional.empty());

    public HandshakeConfig {
        Settings.HANDSHAKE_TIMEOUT.require(timeout);
        Settings.PEER_TIMEOUT.require(peerTimeout);
        stoppedTimeout = stoppedTimeout.compareTo(peerTimeout) < 0 ? peerTimeout : stoppedTimeout;
        Settings.STOPPED_TIMEOUT.require(stoppedTimeout);
    }

    static HandshakeConfig of(SettingValues settings, Optional<ClusterKey> clusterKey) {
        return new HandshakeConfig(
                settings.get(Settings.HANDSHAKE_TIMEOUT).value(),
                settings.get(Settings.PORTS).value().orElse(PortRange.ANY),
                settings.get(Settings.PEER_TIMEOUT).value(),
                settings.get(Settings.STOPPED_TIMEOUT).value(),
                clusterKey);
    }
}
