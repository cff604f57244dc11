package trigon.handshake.connect;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import trigon.handshake.lifeline.HandshakeConnection;
import trigon.handshake.lifeline.PeerChannel;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;
import trigon.handshake.message.HandshakeMessage;
import trigon.handshake.message.HandshakeMessage.Alive;
import trigon.handshake.message.HandshakeMessage.Challenge;
import trigon.handshake.message.HandshakeMessage.Reject;
import trigon.handshake.message.HandshakeProofs;

/** The connecting side's handshake until the listener has proven itself. Subclasses do what comes after. */
abstract class ClientConnection extends HandshakeConnection {

    /** Steps until the listener has proven itself. */
    private enum Greeting {
        /** Its challenge is waited for, behind fillers of its own. */
        HELLO,
        /** It has proven itself; fillers are sent, and its answer to what comes behind them is waited for. */
        ECHO,
        DONE
    }

    /** Relation of a handshake to the channels of others. */
    enum ChannelUse {
        /** It has one of its own, which it is about: frames of the full size are to arrive there, too. */
        ALONE,
        /**
         * It takes one that is there, and others may take its own. Where the listener has proven itself, it need not be
         * greeted again.
         */
        SHARED,
        /** It takes one that is there, and greets the listener: how soon that answers is of interest. */
        GREETING,
        /** It has one of its own, since what it says was said before and may not have arrived. */
        REPEATED
    }

    private final Target target;
    private final ClientServices services;
    private InetSocketAddress bound;
    private volatile boolean connected;
    private boolean fills;

    /** True if its stream is one of a channel that another handshake has dialled. */
    private boolean joins;

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
        this.services = services;
        bound = new InetSocketAddress(target.local(), 0);
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
        boolean shares = use() == ChannelUse.SHARED || use() == ChannelUse.GREETING;
        PeerChannel shared = shares ? services.channelTo(target) : null;
        if (shared != null) {
            joins = true;
            openOn(shared);
            return;
        }
        TcpDial.connect(loop(), target, bound, this::dialBy).addListener(connecting -> {
            if (connecting.isSuccess()) {
                return;
            }
            if (loop().isClosing()) {
                fail(Kind.ABANDONED, "this process closes its handshakes", connecting.cause());
            } else {
                HandshakeException why = TcpDial.failure(target, connecting.cause());
                fail(why.kind(), String.valueOf(why.getMessage()), connecting.cause());
            }
        });
    }

    @Override
    protected final String causeOfSilence() {
        return proofs == null ? TcpDial.causeOfSilence(target) : "";
    }

    @Override
    protected final void opened() {
        connected = true;
        PeerChannel own = channel();
        InetSocketAddress local = own == null ? null : own.localAddress();
        bound = local == null ? bound : local;
        proofs = services.proofs(target);
        if (joins && own != null && use() == ChannelUse.SHARED) {
            proofs.note(own.opening());
            greet();
            return;
        }
        await("the answer to the hello");
        fills = !joins && (use() == ChannelUse.ALONE || !services.frameChecks().hasPassed(target));
        sendNoted(services.hello(target, fills, use() == ChannelUse.REPEATED), proofs);
        if (fills && target.firstHop().segmentBytes() == 0) {
            loop().later(FrameChecks.AFTER.toNanos(), () -> {
                if (!isOver() && greeting != Greeting.DONE) {
                    services.frameChecks().add(this);
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
                if (channel() != null) {
                    channel().noteOpening(known().said());
                }
                if (fills) {
                    greeting = Greeting.ECHO;
                    await("the answer to a frame of the full size");
                    sendFillers();
                    sendProven(new Alive(0), known());
                } else {
                    greet();
                }
            }
            case Alive _
            when greeting == Greeting.ECHO && admit(frame) -> {
                services.frameChecks().pass(target);
                greet();
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

    private void greet() {
        greeting = Greeting.DONE;
        greeted();
        PeerChannel own = channel();
        if (own != null) {
            own.markProven(); // to the listener by now, too
        }
        if (own != null && use() == ChannelUse.SHARED) {
            services.share(target, own);
        }
    }

    /** The relation of this handshake to the channels of others. */
    ChannelUse use() {
        return ChannelUse.ALONE;
    }

    /** Returns whether the listener has proven itself, and frames of this connection's size have arrived both ways. */
    final boolean isGreeted() {
        return greeting == Greeting.DONE;
    }

    /** Returns whether it is on another one's channel over which nothing is heard. */
    final boolean isUnheardOnShared() {
        PeerChannel own = channel();
        return joins && (own == null || !own.isShareable());
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
