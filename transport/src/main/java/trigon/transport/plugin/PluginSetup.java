package trigon.transport.plugin;

import java.util.Optional;
import trigon.config.PluginConfig;
import trigon.handshake.lifeline.HandshakeEventLoop;
import trigon.nccl.ConnectionAdvice;

/**
 * The parts of a {@link RoutedNetPlugin}.
 *
 * @param config the settings
 * @param host its links and devices
 * @param visible where others see what it does
 * @param relays how it uses relays
 * @param advice has a say in each connection
 * @param timing its clock and its timer
 */
public record PluginSetup(
        PluginConfig config,
        HostNetwork host,
        VisibleState visible,
        RelayAccess relays,
        ConnectionAdvice advice,
        Timing timing) {

    /** By the machine's time, without relays and advice. */
    public PluginSetup(PluginConfig config, HostNetwork host, VisibleState visible) {
        this(config, host, visible, RelayAccess.NONE, ConnectionAdvice.NONE, Timing.SYSTEM);
    }

    /** A thread for handshakes, by the clock; peers that have proven themselves are told the key of the job. */
    HandshakeEventLoop openHandshakes() {
        return HandshakeEventLoop.open(timing.clock(), relays.dialer().jobKeys());
    }

    public PluginSetup with(Timing other) {
        return new PluginSetup(config, host, visible, relays, advice, other);
    }

    public PluginSetup with(RelayAccess others) {
        return new PluginSetup(config, host, visible, others, advice, timing);
    }

    /** The reason why NICs leave the GPUs' memory alone, whatever the settings say; empty if there is none. */
    Optional<String> gpuMemoryObstacle() {
        return host.devices().gpuWrites().obstacle();
    }
}
