package trigon.handshake;

import io.netty.channel.ChannelHandlerContext;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.HandshakeException.Kind;
import trigon.handshake.HandshakeMessage.Answer;
import trigon.handshake.HandshakeMessage.Offer;
import trigon.handshake.HandshakeMessage.Ready;
import trigon.handshake.HandshakeMessage.Reject;

/** The listening side's end of one handshake: a stranger until it has offered a registered connection. */
final class IncomingConnection extends HandshakeConnection {

    private static final Logger LOGGER = LoggerFactory.getLogger(IncomingConnection.class);

    private enum Step {
        STRANGER,
        ANSWERING,
        ANSWERED
    }

    private final IncomingConnections connections;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;

    private Step step = Step.STRANGER;
    private @Nullable Registration registration;
    private @Nullable Offer offer;
    private @Nullable Answer answer;

    IncomingConnection(
            HandshakeEventLoop loop,
            Duration timeout,
            IncomingConnections connections,
            InetSocketAddress local,
            InetSocketAddress remote) {
        super(loop, timeout, "an offer");
        this.connections = connections;
        this.local = local;
        this.remote = remote;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        startDeadline();
        connections.opened(this);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        super.channelInactive(context);
        connections.closed(this);
    }

    @Override
    void received(HandshakeMessage message) {
        switch (message) {
            case Offer received when step == Step.STRANGER -> offered(received);
            case Ready _ when step == Step.ANSWERED -> established();
            case Reject reject -> fail(Kind.REJECTED, "the connecting side gives up: " + reject.reason());
            case Offer _, Answer _, Ready _ ->
                fail(
                        Kind.PROTOCOL,
                        "the peer sent %s where none is due"
                                .formatted(message.getClass().getSimpleName()));
        }
    }

    private void offered(Offer received) {
        Registration found = connections.find(received.connection());
        if (found == null) {
            offer = received; // for the description
            reject(
                    Kind.REJECTED,
                    "nobody waits for this connection here: its listener was closed, or the handle is of an earlier run");
            return;
        }
        if (found.isConnected()) {
            offer = received;
            reject(Kind.REJECTED, "this connection is established already");
            return;
        }
        found.supersede(this);
        offer = received;
        registration = found;
        step = Step.ANSWERING;
        await("the own answer");
        connections.admitted(this, received);
        ask(found, new IncomingOffer(received, local, remote, result()));
    }

    private void ask(Registration found, IncomingOffer incoming) {
        try {
            found.handler()
                    .onOffer(incoming)
                    .whenComplete((given, failure) -> onEventLoop(() -> answered(given, failure)));
        } catch (RuntimeException e) {
            answered(null, e);
        }
    }

    private void answered(@Nullable Answer given, @Nullable Throwable failure) {
        if (isOver()) {
            return; // too late; whoever made the answer knows from the result
        }
        if (given == null) {
            reject(Kind.REJECTED, reason(failure));
        } else if (offer != null && given.kind() != offer.kind()) {
            reject(Kind.PROTOCOL, "offered a link of kind " + offer.kind() + ", answered one of " + given.kind());
        } else {
            answer = given;
            step = Step.ANSWERED;
            await("the peer's readiness");
            send(given);
        }
    }

    private static String reason(@Nullable Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause == null) {
            return "the listener has no answer";
        }
        String message = cause.getMessage();
        return message == null ? cause.getClass().getSimpleName() : message;
    }

    private void established() {
        if (registration == null || offer == null || answer == null) {
            throw new AssertionError("ready without an offer and an answer");
        }
        registration.connected();
        send(new Ready());
        LOGGER.info(
                "connected by {} from {} at {} (connection {}, {}): own {}, peer {}",
                offer.node().name(),
                remote,
                local,
                offer.connection(),
                offer.kind(),
                answer.endpoint(),
                offer.endpoint());
        succeed(new Established(local, remote, offer, answer, this));
    }

    @Override
    void failed(HandshakeException cause) {
        if (registration == null) {
            connections.strangerFailed(cause);
            return;
        }
        registration.ended(this);
        log(LOGGER, cause);
    }

    private void onEventLoop(Runnable task) {
        try {
            loop().eventLoop().execute(task);
        } catch (RejectedExecutionException e) {
            LOGGER.debug("{}: an answer after the event loop was closed", describe(), e);
        }
    }

    @Override
    String describe() {
        String which = offer == null ? "" : " of connection %s (%s)".formatted(offer.connection(), offer.kind());
        return "handshake%s from %s:%d at %s:%d"
                .formatted(
                        which,
                        remote.getAddress().getHostAddress(),
                        remote.getPort(),
                        local.getAddress().getHostAddress(),
                        local.getPort());
    }
}
