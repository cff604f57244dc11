package trigon.handshake.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import trigon.config.HandshakeConfig;
import trigon.handshake.lifeline.HandshakeEventLoop;
import trigon.handshake.lifeline.PeerChannel;
import trigon.handshake.message.HandshakeMessage.Hello;
import trigon.handshake.message.HandshakeProofs;
import trigon.handshake.message.HandshakeProofs.Side;
import trigon.handshake.message.OpaqueBytes;
import trigon.stream.dial.Dialer;

/** The parts that all connections of a client share. Thread-safe, but for what belongs to the event loop. */
final class ClientServices {

    /** TCP's payload where Ethernet's usual MTU passes. */
    private static final int SHORT_SEGMENT = 1400;

    private final HandshakeEventLoop loop;
    private final HandshakeConfig config;
    private final Dialer dialer;
    private final FrameChecks frameChecks;

    /** The latest that may be shared; the event loop's. */
    private final Map<Ends, PeerChannel> channels = new HashMap<>();

    /** A direct path to one process, in segments of that size; 0: of the full one. */
    private record Ends(InetAddress local, InetSocketAddress remote, int segmentBytes) {

        static Ends of(Target target) {
            return new Ends(target.local(), target.remote(), target.firstHop().segmentBytes());
        }
    }

    /**
     * Those of one client.
     *
     * @param loop the thread of all handshakes
     * @param config the settings in force
     * @param dialer knows the way to each listener
     */
    ClientServices(HandshakeEventLoop loop, HandshakeConfig config, Dialer dialer) {
        this.loop = loop;
        this.config = config;
        this.dialer = dialer;
        frameChecks = new FrameChecks(this);
    }

    HandshakeEventLoop loop() {
        return loop;
    }

    HandshakeConfig config() {
        return config;
    }

    Dialer dialer() {
        return dialer;
    }

    /**
     * Returns whether frames of the full size are known to be lost between these addresses; through relays, nothing is
     * known before one of them is taken.
     */
    boolean isNarrow(InetAddress local, InetSocketAddress remote) {
        return !dialer.usesRelays(local, remote.getAddress())
                && (dialer.narrowPaths().segmentBytes(local, remote.getAddress()) > 0
                        || dialer.narrowForRdma().segmentBytes(local, remote.getAddress()) > 0);
    }

    /** {@link HandshakeClient#noteRdmaPackets}. */
    boolean noteRdmaPackets(InetAddress local, InetAddress remote, boolean pass) {
        return pass
                ? dialer.narrowForRdma().remove(local, remote)
                : dialer.narrowForRdma().add(local, remote, SHORT_SEGMENT);
    }

    /** The channel to a listener that others have opened, if one may be used. Circuits are never shared. */
    @Nullable
    PeerChannel channelTo(Target target) {
        PeerChannel known = target.isDirect() ? channels.get(Ends.of(target)) : null;
        return known != null && known.isShareable() ? known : null;
    }

    /** Lets others use a channel. */
    void share(Target target, PeerChannel channel) {
        if (target.isDirect()) {
            channels.values().removeIf(each -> !each.isShareable());
            channels.put(Ends.of(target), channel);
        }
    }

    /** The proofs of a connection's client, before anything is said. */
    HandshakeProofs proofs(Target target) {
        return HandshakeProofs.of(Side.CONNECTING, target.secret(), config.clusterKey());
    }

    /** A connection's first message. */
    Hello hello(Target target, boolean fills, boolean repeats) {
        OpaqueBytes nonce = OpaqueBytes.random(HandshakeProofs.BYTES);
        OpaqueBytes mark = HandshakeProofs.clusterMark(config.clusterKey(), target.connection(), nonce);
        return new Hello(target.connection(), nonce, mark, fills, repeats);
    }

    /** Checks whether frames of the full size are lost; the event loop's. */
    FrameChecks frameChecks() {
        return frameChecks;
    }
}
