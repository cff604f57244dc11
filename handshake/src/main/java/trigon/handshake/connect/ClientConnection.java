package trigon.handshake.connect;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import trigon.config.cluster.ClusterKey;
import trigon.handshake.lifeline.HandshakeConnection;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.ConnectionSecret;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;
import trigon.handshake.message.HandshakeMessage;
import trigon.handshake.message.HandshakeMessage.Alive;
import trigon.handshake.message.HandshakeMessage.Challenge;
import trigon.handshake.message.HandshakeMessage.Hello;
import trigon.handshake.message.HandshakeMessage.Reject;
import trigon.handshake.message.HandshakeProofs;
import trigon.handshake.message.HandshakeProofs.Side;
import trigon.handshake.message.OpaqueBytes;
import trigon.stream.ConnectFailures;
import trigon.stream.SocketOptions;
import trigon.stream.dial.FirstHop;

/** The connecting side's TCP connection until the listener has proven itself. Subclasses do what comes after. */
abstract class ClientConnection extends HandshakeConnection {

    /**
     * The goal of a connection, and the listener's proof that it takes.
     *
     * @param local the local address that it is bound to
     * @param remote the listener's address
     * @param firstHop that address, or the first relay of a circuit to it
     * @param secret from the handle
     * @param connection its id, from the handle
     */
    record Target(
            InetAddress local,
            InetSocketAddress remote,
            FirstHop firstHop,
            ConnectionSecret secret,
            ConnectionId connection) {

        /** The same, reached in segments of so many bytes at most. */
        Target inSegmentsOf(int bytes) {
            return new Target(local, remote, firstHop.inSegmentsOf(bytes), secret, connection);
        }
    }

    /** A channel whose segments are limited, in both directions. */
    private static final class NarrowChannel extends NioSocketChannel {
        private final int segmentBytes;

        NarrowChannel(int segmentBytes) {
            this.segmentBytes = segmentBytes;
        }

        @Override
        protected boolean doConnect(SocketAddress to, SocketAddress from) throws Exception {
            javaChannel().bind(from);
            SocketOptions.limitSegments(javaChannel(), segmentBytes);
            return super.doConnect(to, null);
        }
    }

    /** Steps until the listener has proven itself. */
    private enum Greeting {
        /** Its challenge is waited for, behind fillers of its own. */
        HELLO,
        /** It has proven itself; fillers are sent, and its answer to what comes behind them is waited for. */
        ECHO,
        DONE
    }

    private final Target target;
    private final FrameChecks frameChecks;
    private final Optional<ClusterKey> clusterKey;
    private InetSocketAddress bound;
    private volatile boolean connected;
    private boolean fills;
    private Greeting greeting = Greeting.HELLO;
    private @Nullable HandshakeProofs proofs;

    /**
     * Does nothing before {@link #start}.
     *
     * @param timeout of the whole handshake
     */
    ClientConnection(ClientServices services, Duration timeout, Target target) {
        super(services.loop(), timeout, services.config(), "the TCP connection");
        this.target = target;
        frameChecks = services.frameChecks();
        clusterKey = services.config().clusterKey();
        bound = new InetSocketAddress(target.local(), 0);
    }

    @Override
    public final Object dialled() {
        return List.of(target.local(), target.remote());
    }

    /** The listener has proven that it made the handle, and frames of the connection's size arrive both ways. */
    abstract void greeted();

    /** A message of the listener's after that, which is no Reject. */
    abstract void answered(HandshakeFrame frame);

    /** Called once, from any thread. */
    final void start() {
        onEventLoop(this::connect);
    }

    private void connect() {
        if (isOver()) {
            return;
        }
        startDeadline();
        int segmentBytes = target.firstHop().segmentBytes();
        new Bootstrap()
                .group(loop().eventLoop())
                .channelFactory(() -> segmentBytes == 0 ? new NioSocketChannel() : new NarrowChannel(segmentBytes))
                .disableResolver() // targets are addresses, and a resolver would start a thread that has to be ended
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0) // startDeadline covers this, too
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        target.firstHop()
                                .opening()
                                .ifPresent(each ->
                                        channel.pipeline().addLast(new CircuitHandler(target.firstHop(), each)));
                        attach(channel);
                    }
                })
                .connect(target.firstHop().address(), bound)
                .addListener(connecting -> {
                    if (!connecting.isSuccess()) {
                        unreachable(connecting.cause());
                    }
                });
    }

    private void unreachable(Throwable cause) {
        if (loop().isClosing()) {
            fail(Kind.ABANDONED, "this process closes its handshakes", cause);
        } else if (target.firstHop().route().isPresent()) {
            target.firstHop().onUnreachable();
            String text = ConnectFailures.isRefusal(cause)
                    ? "its process has ended, or a firewall refuses TCP"
                    : obstacle(cause).text().orElse("check the link to it");
            fail(
                    Kind.NO_CIRCUIT,
                    "no TCP connection to the relay at %s: %s; %s"
                            .formatted(target.firstHop().address().getHostString(), cause.getMessage(), text),
                    cause);
        } else {
            Obstacle obstacle = obstacle(cause);
            fail(
                    kindOf(obstacle, cause),
                    "no TCP connection: %s; %s"
                            .formatted(
                                    cause.getMessage(),
                                    obstacle.text()
                                            .orElse("check the link between the two addresses, firewalls, and that"
                                                    + " the peer's process still runs")),
                    cause);
        }
    }

    private static Kind kindOf(Obstacle obstacle, Throwable cause) {
        if (obstacle.isFirewall()) {
            return Kind.BLOCKED;
        }
        return ConnectFailures.isRefusal(cause) ? Kind.REFUSED : Kind.UNREACHABLE;
    }

    /** Through relays, the peer's address says nothing of the connection's end here. */
    private Obstacle obstacle(@Nullable Throwable cause) {
        return Obstacle.between(target.local(), target.firstHop().address().getAddress(), cause);
    }

    @Override
    protected final String causeOfSilence() {
        return proofs == null ? obstacle(null).text().map(text -> "; " + text).orElse("") : "";
    }

    @Override
    public final void channelActive(ChannelHandlerContext context) {
        connected = true;
        if (context.channel().localAddress() instanceof InetSocketAddress address) {
            bound = address;
        }
        proofs = HandshakeProofs.of(Side.CONNECTING, target.secret(), clusterKey);
        await("the answer to the hello");
        OpaqueBytes nonce = OpaqueBytes.random(HandshakeProofs.BYTES);
        OpaqueBytes mark = HandshakeProofs.clusterMark(clusterKey, target.connection(), nonce);
        fills = checksFrames();
        sendNoted(new Hello(target.connection(), nonce, mark, fills), proofs);
        if (fills && target.firstHop().segmentBytes() == 0) {
            loop().later(FrameChecks.AFTER.toNanos(), () -> {
                if (!isOver() && greeting != Greeting.DONE) {
                    frameChecks.add(this);
                }
            });
        }
    }

    @Override
    protected final void received(HandshakeFrame frame) {
        switch (frame.message()) {
            case Reject reject -> fail(Kind.REJECTED, "the listener rejects it: " + reject.reason());
            case Challenge _
            when greeting == Greeting.HELLO && admit(frame) -> {
                if (fills) {
                    greeting = Greeting.ECHO;
                    await("the answer to a frame of the full size");
                    sendFillers();
                    sendProven(new Alive(0), known());
                } else {
                    greeting = Greeting.DONE;
                    greeted();
                }
            }
            case Alive _
            when greeting == Greeting.ECHO && admit(frame) -> {
                greeting = Greeting.DONE;
                frameChecks.pass(target);
                greeted();
            }
            case HandshakeMessage message -> {
                if (greeting == Greeting.DONE) {
                    answered(frame);
                } else {
                    unexpected(message);
                }
            }
        }
    }

    /** Returns whether to find out if frames of the full size arrive: unless they have a short while ago. */
    boolean checksFrames() {
        return !frameChecks.hasPassed(target);
    }

    /** Returns whether the listener has proven itself, and frames of this connection's size have arrived both ways. */
    final boolean isGreeted() {
        return greeting == Greeting.DONE;
    }

    final Target target() {
        return target;
    }

    /** Takes a frame that the listener proves to be its own, or refuses it. Returns whether it does. */
    final boolean admit(HandshakeFrame frame) {
        boolean right = proofs != null && proofs.verify(frame.bytes());
        if (!right) {
            reject(
                    Kind.UNAUTHENTICATED,
                    "the listener does not know this connection's secret: another process has taken its address and"
                            + " port, or somebody is in between");
        }
        return right;
    }

    /** Fails the connection, unless a wrong proof has already ended it. */
    final void unexpected(HandshakeMessage message) {
        fail(
                Kind.PROTOCOL,
                "the listener sent %s where none is due"
                        .formatted(message.getClass().getSimpleName()));
    }

    final HandshakeProofs known() {
        return Objects.requireNonNull(proofs, "no message is sent before the connection is there");
    }

    /** True once the TCP connection is made, to the peer or to the first relay. Any thread. */
    public final boolean isConnected() {
        return connected;
    }

    /** This side's address; its port is known once there is a connection. */
    final InetSocketAddress bound() {
        return bound;
    }

    public final InetSocketAddress remote() {
        return target.remote();
    }

    final void onEventLoop(Runnable task) {
        try {
            loop().eventLoop().execute(task);
        } catch (RejectedExecutionException e) {
            // the loop's thread is gone, and with it everybody else who could touch this
            fail(Kind.ABANDONED, "this process has closed its handshakes", e);
        }
    }

    /** For example {@code handshake of connection 1f (SOFTWARE) from 10.0.12.1 to 10.0.12.2:4711}. */
    final String describe(String what, String remark) {
        return "%s of connection %s%s from %s to %s:%d"
                .formatted(
                        what,
                        target.connection(),
                        remark,
                        target.local().getHostAddress(),
                        target.remote().getAddress().getHostAddress(),
                        target.remote().getPort());
    }
}
