package trigon.handshake;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import trigon.circuit.Detours;
import trigon.config.HandshakeConfig;
import trigon.handshake.HandshakeMessage.Offer;

/** Connects to listeners. Thread-safe; holds nothing but its event loop. */
public final class HandshakeClient {

    private final HandshakeEventLoop loop;
    private final HandshakeConfig config;

    private final Detours detours;

    /** A client all of whose connections are direct. */
    public HandshakeClient(HandshakeEventLoop loop, HandshakeConfig config) {
        this(loop, config, Detours.NONE);
    }

    /** A client some of whose connections go through relays. */
    public HandshakeClient(HandshakeEventLoop loop, HandshakeConfig config, Detours detours) {
        this.loop = loop;
        this.config = config;
        this.detours = detours;
    }

    /**
     * Starts one attempt over one candidate path; returns at once. The connection is bound to the path's own local
     * address, so that it goes where the data would go. The deadline of the settings is for the whole attempt.
     *
     * <p>Failures are reported by the attempt's futures only. The listener exists before its handle is sent, so one
     * that cannot be reached is a failure at once and not tried again.
     *
     * @param local the candidate's own address
     * @param remote the listener's, from its handle
     * @param secret the connection's, from the handle
     * @throws IllegalArgumentException if the remote address is a name that was not resolved
     */
    public OutgoingOffer connect(InetAddress local, InetSocketAddress remote, ConnectionSecret secret, Offer offer) {
        return start(local, remote, secret, offer.connection(), offer);
    }

    /**
     * Asks over one path whether the peer lives, and has an end of that connection; returns at once.
     *
     * @return completes with its proof, or a {@link HandshakeException}, at the deadline of the settings at the latest
     */
    public CompletableFuture<Void> ask(
            InetAddress local, InetSocketAddress remote, ConnectionSecret secret, ConnectionId connection) {
        return start(local, remote, secret, connection, null).whenChallenged();
    }

    private OutgoingConnection start(
            InetAddress local,
            InetSocketAddress remote,
            ConnectionSecret secret,
            ConnectionId connection,
            @Nullable Offer offer) {
        if (remote.isUnresolved()) {
            throw new IllegalArgumentException(remote + " is a name, not an address");
        }
        OutgoingConnection outgoing = new OutgoingConnection(
                loop, config, local, inScopeOf(local, remote), detours.from(local, remote), secret, connection, offer);
        outgoing.start();
        return outgoing;
    }

    /** A link-local address means nothing without the interface to use: that of the own end. */
    private static InetSocketAddress inScopeOf(InetAddress local, InetSocketAddress remote) {
        if (remote.getAddress() instanceof Inet6Address to
                && local instanceof Inet6Address from
                && to.isLinkLocalAddress()
                && to.getScopeId() == 0
                && from.getScopeId() != 0) {
            try {
                return new InetSocketAddress(
                        Inet6Address.getByAddress(null, to.getAddress(), from.getScopeId()), remote.getPort());
            } catch (UnknownHostException e) {
                throw new AssertionError("16 bytes are always an address", e);
            }
        }
        return remote;
    }
}
