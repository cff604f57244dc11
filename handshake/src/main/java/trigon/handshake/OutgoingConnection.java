package trigon.handshake;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.circuit.Detours;
import trigon.config.ClusterKey;
import trigon.config.HandshakeConfig;
import trigon.handshake.HandshakeException.Kind;
import trigon.handshake.HandshakeMessage.Alive;
import trigon.handshake.HandshakeMessage.Answer;
import trigon.handshake.HandshakeMessage.Challenge;
import trigon.handshake.HandshakeMessage.Farewell;
import trigon.handshake.HandshakeMessage.Hello;
import trigon.handshake.HandshakeMessage.Offer;
import trigon.handshake.HandshakeMessage.Ready;
import trigon.handshake.HandshakeMessage.Reject;
import trigon.handshake.HandshakeProofs.Side;
import trigon.verbs.ConnectionKey;

/** The connecting side's end of one handshake. */
final class OutgoingConnection extends HandshakeConnection implements OutgoingOffer {

    private static final Logger LOGGER = LoggerFactory.getLogger(OutgoingConnection.class);

    private enum Step {
        GREETING,
        OFFERING,
        ANSWERED,
        READY
    }

    private final InetAddress local;
    private final InetSocketAddress remote;
    private final Optional<Detours.Detour> detour;
    private final ConnectionSecret secret;
    private final Optional<ClusterKey> clusterKey;
    private final ConnectionId connection;
    private final @Nullable Offer offer;
    private final CompletableFuture<Void> challenged = new CompletableFuture<>();
    private final CompletableFuture<Answer> answer = new CompletableFuture<>();

    private Step step = Step.GREETING;
    private @Nullable HandshakeProofs proofs;
    private InetSocketAddress bound;
    private @Nullable Answer answered;
    /** Set before the answer is complete, and published by it. */
    private @Nullable ConnectionKey key;

    /** A direct one. */
    OutgoingConnection(
            HandshakeEventLoop loop,
            HandshakeConfig config,
            InetAddress local,
            InetSocketAddress remote,
            ConnectionSecret secret,
            Offer offer) {
        this(loop, config, local, remote, Optional.empty(), secret, offer.connection(), offer);
    }

    /**
     * A connection.
     *
     * @param offer null: it ends as soon as the listener has proven that it lives
     */
    OutgoingConnection(
            HandshakeEventLoop loop,
            HandshakeConfig config,
            InetAddress local,
            InetSocketAddress remote,
            Optional<Detours.Detour> detour,
            ConnectionSecret secret,
            ConnectionId connection,
            @Nullable Offer offer) {
        super(loop, config, "the TCP connection");
        this.secret = secret;
        clusterKey = config.clusterKey();
        this.local = local;
        this.remote = remote;
        this.detour = detour;
        this.connection = connection;
        this.offer = offer;
        bound = new InetSocketAddress(local, 0);
    }

    /** To be called once, from any thread. */
    void start() {
        onEventLoop(this::connect);
    }

    private void connect() {
        startDeadline();
        new Bootstrap()
                .group(loop().eventLoop())
                .channel(NioSocketChannel.class)
                .disableResolver() // addresses only: and a resolver would start a thread of its own to end
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0) // the deadline is for all of it
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        detour.ifPresent(way -> channel.pipeline().addLast(new CircuitHandler(way.opening())));
                        attach(channel);
                    }
                })
                .connect(detour.map(Detours.Detour::first).orElse(remote), bound)
                .addListener(connecting -> {
                    if (!connecting.isSuccess()) {
                        unreachable(connecting.cause());
                    }
                });
    }

    private void unreachable(Throwable cause) {
        if (loop().isClosing()) {
            fail(Kind.ABANDONED, "this process closes its handshakes", cause);
        } else {
            fail(
                    Kind.UNREACHABLE,
                    ("no TCP connection: %s; check the link between the two addresses, firewalls, and that the peer's"
                                    + " process still runs")
                            .formatted(cause.getMessage()),
                    cause);
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        if (context.channel().localAddress() instanceof InetSocketAddress address) {
            bound = address;
        }
        proofs = HandshakeProofs.of(Side.CONNECTING, secret, clusterKey);
        await("the answer to the hello");
        OpaqueBytes nonce = OpaqueBytes.random(HandshakeProofs.BYTES);
        sendNoted(new Hello(connection, nonce, HandshakeProofs.clusterMark(clusterKey, connection, nonce)), proofs);
    }

    @Override
    void received(HandshakeFrame frame) {
        switch (frame.message()) {
            case Challenge _ when step == Step.GREETING && isProven(frame) -> challenged();
            case Answer received when step == Step.OFFERING && isProven(frame) -> answered(received);
            case Ready ready
            when step == Step.READY && answered != null && isProven(frame) -> established(answered, ready);
            case Reject reject -> fail(Kind.REJECTED, "the listener rejects it: " + reject.reason());
            case Hello _, Challenge _, Offer _, Answer _, Ready _, Alive _, Farewell _ -> unexpected(frame.message());
        }
    }

    /** Whether the listener has proven the frame to be its own; if not, it is refused. */
    private boolean isProven(HandshakeFrame frame) {
        boolean proven = proofs != null && proofs.verify(frame.bytes());
        if (!proven) {
            reject(
                    Kind.UNAUTHENTICATED,
                    "the listener does not know this connection's secret: another process has taken its address and"
                            + " port, or somebody is in between");
        }
        return proven;
    }

    /** The listener is the one that made the handle: now it may know what the offer tells. */
    private void challenged() {
        challenged.complete(null);
        if (offer == null) {
            fail(Kind.ABANDONED, "the peer lives, which was all that was asked");
            return;
        }
        step = Step.OFFERING;
        await("the answer to the offer");
        sendProven(offer, known());
        key = known().connectionKey();
    }

    private HandshakeProofs known() {
        return Objects.requireNonNull(proofs, "no message is sent before the connection is there");
    }

    /** Does nothing if the message's proof was wrong: then it is over already. */
    private void unexpected(HandshakeMessage message) {
        fail(
                Kind.PROTOCOL,
                "the listener sent %s where none is due"
                        .formatted(message.getClass().getSimpleName()));
    }

    private void answered(Answer received) {
        if (received.kind() != offer().kind()) {
            reject(Kind.PROTOCOL, "offered a link of kind " + offer().kind() + ", answered one of " + received.kind());
            return;
        }
        step = Step.ANSWERED;
        await("the own queue pair");
        answered = received;
        answer.complete(received);
    }

    @Override
    public CompletableFuture<Established> sendReady(int stripes) {
        Ready ready = new Ready(stripes);
        if (!answer.isDone()) {
            throw new IllegalStateException(describe() + ": there is no answer yet to be ready for");
        }
        onEventLoop(() -> {
            if (step == Step.ANSWERED && !isOver()) {
                step = Step.READY;
                await("the listener's confirmation");
                sendProven(ready, known());
            }
        });
        return result();
    }

    private void established(Answer received, Ready ready) {
        LOGGER.debug(
                "connected to {} from {} (connection {}, {}): own {}, peer {}",
                remote,
                bound,
                connection,
                offer().kind(),
                offer().endpoint(),
                received.endpoint());
        succeed(new Established(bound, remote, offer(), received, ready.stripes(), this), known());
    }

    @Override
    public void abandon(String reason) {
        onEventLoop(() -> reject(Kind.ABANDONED, reason));
    }

    @Override
    void failed(HandshakeException cause) {
        log(LOGGER, cause);
        challenged.completeExceptionally(cause);
        answer.completeExceptionally(cause);
    }

    private void onEventLoop(Runnable task) {
        try {
            loop().eventLoop().execute(task);
        } catch (RejectedExecutionException e) {
            // the loop's thread is gone, and with it everybody else who could touch this
            fail(Kind.ABANDONED, "this process has closed its handshakes", e);
        }
    }

    /** Completes when the listener has proven that it lives, and knows the connection; or with what came instead. */
    CompletableFuture<Void> whenChallenged() {
        return challenged;
    }

    @Override
    public Offer offer() {
        return Objects.requireNonNull(offer, "only who offers is answered");
    }

    @Override
    public InetSocketAddress remote() {
        return remote;
    }

    @Override
    public CompletableFuture<Answer> answer() {
        return answer;
    }

    @Override
    public ConnectionKey key() {
        ConnectionKey mine = answer.isDone() ? key : null;
        if (mine == null) {
            throw new IllegalStateException(describe() + ": there is no answer yet, so no key");
        }
        return mine;
    }

    @Override
    String describe() {
        return "handshake of connection %s (%s) from %s to %s:%d"
                .formatted(
                        connection,
                        offer == null ? "only asks" : offer.kind(),
                        local.getHostAddress(),
                        remote.getAddress().getHostAddress(),
                        remote.getPort());
    }
}
