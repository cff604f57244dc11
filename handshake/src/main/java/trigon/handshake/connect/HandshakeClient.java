package trigon.handshake.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import trigon.config.HandshakeConfig;
import trigon.handshake.OutgoingOffer;
import trigon.handshake.lifeline.HandshakeEventLoop;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.ConnectionSecret;
import trigon.handshake.message.EndFailure;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.stream.dial.Dialer;

/** Connects to listeners. Thread-safe; holds nothing but its event loop. */
public final class HandshakeClient {

    private final ClientServices services;
    private final Introductions introductions;

    /** A client all of whose connections are direct. */
    public HandshakeClient(HandshakeEventLoop loop, HandshakeConfig config) {
        this(loop, config, Dialer.DIRECT);
    }

    /** A client some of whose connections go through relays. */
    public HandshakeClient(HandshakeEventLoop loop, HandshakeConfig config, Dialer dialer) {
        this(new ClientServices(loop, config, dialer));
    }

    HandshakeClient(ClientServices services) {
        this.services = services;
        introductions = new Introductions(services);
    }

    /** The settings in force. */
    public HandshakeConfig config() {
        return services.config();
    }

    /** {@link #connect(InetAddress, InetSocketAddress, ConnectionSecret, Offer, Duration)} with the settings' time. */
    public OutgoingOffer connect(InetAddress local, InetSocketAddress remote, ConnectionSecret secret, Offer offer) {
        return connect(local, remote, secret, offer, timeout());
    }

    /**
     * Starts one attempt over one candidate path; returns at once. The connection is bound to the path's own local
     * address, so that it goes where the data would go.
     *
     * <p>Failures are reported by the attempt's futures only. Where there is no path to the listener now, that is one
     * at once, and {@link HandshakeException#mayPass}.
     *
     * @param local the candidate's own address
     * @param remote the listener's, from its handle
     * @param secret the connection's, from the handle
     * @param timeout the whole attempt's
     * @throws IllegalArgumentException if the remote address is a name that was not resolved
     */
    public OutgoingOffer connect(
            InetAddress local, InetSocketAddress remote, ConnectionSecret secret, Offer offer, Duration timeout) {
        // each with a route of its own through relays, if that is how it goes
        RetriedOffer started =
                new RetriedOffer(services, timeout, () -> target(local, remote, secret, offer.connection()), offer);
        started.start();
        return started;
    }

    /**
     * Tells a listener, once and over one path, that nobody will connect to it. Returns at once.
     *
     * @param why for the listener's error
     * @return done when it has noted it; else a {@link HandshakeException}. Completes on the event loop, always
     * @throws IllegalArgumentException if the remote address is a name that was not resolved
     */
    public CompletableFuture<Void> resign(
            InetAddress local,
            InetSocketAddress remote,
            ConnectionSecret secret,
            ConnectionId connection,
            EndFailure why) {
        Target target = target(local, remote, secret, connection);
        CancelConnection resigning = new CancelConnection(services, timeout(), target, why);
        resigning.start();
        return resigning.told();
    }

    /**
     * Asks over one path whether the peer lives, and has an end of that connection. Returns at once.
     *
     * @throws IllegalArgumentException if the remote address is a name that was not resolved
     */
    public Question ask(InetAddress local, InetSocketAddress remote, ConnectionSecret secret, ConnectionId connection) {
        return ask(target(local, remote, secret, connection));
    }

    /**
     * The same without relays, also where they lead there: an answer says that both addresses are on one link.
     *
     * @throws IllegalArgumentException if the remote address is a name that was not resolved
     */
    public Question askDirectly(
            InetAddress local, InetSocketAddress remote, ConnectionSecret secret, ConnectionId connection) {
        return ask(target(local, remote, secret, connection).directlyBy(services.dialer()));
    }

    private Question ask(Target target) {
        ProbeConnection asking = new ProbeConnection(services, timeout(), target);
        asking.start();
        return asking;
    }

    /**
     * {@link #ask(InetAddress, InetSocketAddress, ConnectionSecret, ConnectionId)}, and beside it the same over the TCP
     * connection that there is, if there is one: what is answered first counts, and says nothing of frames' sizes.
     *
     * @throws IllegalArgumentException if the remote address is a name that was not resolved
     */
    public Question greet(
            InetAddress local, InetSocketAddress remote, ConnectionSecret secret, ConnectionId connection) {
        ProbeConnection asking =
                ProbeConnection.greeting(services, timeout(), target(local, remote, secret, connection));
        asking.start();
        return asking;
    }

    /**
     * Has a listener know the key of this process's job, or learns its own one, over one path and without relays.
     * Returns at once; without effect where there is a cluster key, and where it has been done a moment ago.
     *
     * @throws IllegalArgumentException if the remote address is a name that was not resolved
     */
    public void introduce(
            InetAddress local, InetSocketAddress remote, ConnectionSecret secret, ConnectionId connection) {
        if (services.config().clusterKey().isEmpty()) {
            introductions.begin(target(local, remote, secret, connection).directlyBy(services.dialer()));
        }
    }

    /** Tells whether frames of the full size are known to be lost between these addresses, and smaller ones pass. */
    public boolean isNarrow(InetAddress local, InetSocketAddress remote) {
        return services.isNarrow(local, remote);
    }

    /**
     * Takes note that RDMA's packets of the full size pass between these addresses, or that they are lost, and smaller
     * ones pass. Returns whether the opposite was known, or nothing.
     */
    public boolean noteRdmaPackets(InetAddress local, InetAddress remote, boolean pass) {
        return services.noteRdmaPackets(local, remote, pass);
    }

    private Duration timeout() {
        return services.config().timeout();
    }

    private Target target(
            InetAddress local, InetSocketAddress remote, ConnectionSecret secret, ConnectionId connection) {
        return Target.by(services.dialer(), local, remote, secret, connection);
    }
}
