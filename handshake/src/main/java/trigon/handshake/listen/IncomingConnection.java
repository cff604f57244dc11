package trigon.handshake.listen;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.HandshakeConfig;
import trigon.config.cluster.ClusterKey;
import trigon.handshake.ConnectionLostException;
import trigon.handshake.Established;
import trigon.handshake.IncomingOffer;
import trigon.handshake.PeerUnreachableException;
import trigon.handshake.lifeline.HandshakeConnection;
import trigon.handshake.lifeline.HandshakeEventLoop;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.EndFailure;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;
import trigon.handshake.message.HandshakeMessage;
import trigon.handshake.message.HandshakeMessage.Alive;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Challenge;
import trigon.handshake.message.HandshakeMessage.Farewell;
import trigon.handshake.message.HandshakeMessage.Hello;
import trigon.handshake.message.HandshakeMessage.JobKey;
import trigon.handshake.message.HandshakeMessage.NotNow;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.handshake.message.HandshakeMessage.Ready;
import trigon.handshake.message.HandshakeMessage.Reject;
import trigon.handshake.message.HandshakeProofs;
import trigon.handshake.message.HandshakeProofs.Side;
import trigon.handshake.message.OpaqueBytes;

/** The listening side's end of one handshake: open until its peer has proven that it knows a connection's secret. */
final class IncomingConnection extends HandshakeConnection {

    private static final Logger LOGGER = LoggerFactory.getLogger(IncomingConnection.class);

    private enum Step {
        OPENED,
        CHALLENGED,
        /** The same, and frames of the full size have come; they are asked for once. */
        FILLED,
        ANSWERING,
        ANSWERED
    }

    private static final Set<Step> CHALLENGED = Set.of(Step.CHALLENGED, Step.FILLED);

    private final IncomingConnections connections;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;

    private Step step = Step.OPENED;
    private @Nullable ConnectionId connection;
    private boolean repeats;
    private @Nullable HandshakeProofs proofs;
    private @Nullable Registration registration;
    private @Nullable Offer offer;
    private @Nullable Answer answer;

    IncomingConnection(
            HandshakeEventLoop loop,
            HandshakeConfig config,
            IncomingConnections connections,
            InetSocketAddress local,
            InetSocketAddress remote) {
        super(loop, config.timeout(), config, "a hello");
        this.connections = connections;
        this.local = local;
        this.remote = remote;
    }

    @Override
    protected void opened() {
        startDeadline();
        connections.opened(this);
    }

    @Override
    protected void ended() {
        super.ended();
        connections.closed(this);
    }

    @Override
    protected void received(HandshakeFrame frame) {
        switch (frame.message()) {
            case Hello received when step == Step.OPENED -> greeted(received, frame);
            case Alive _
            when step == Step.CHALLENGED && proofs != null && isProven(frame) -> {
                step = Step.FILLED;
                sendProven(new Alive(0), proofs);
            }
            case JobKey told
            when CHALLENGED.contains(step) && proofs != null -> {
                Optional<byte[]> key = proofs.reveal(told);
                if (isProven(frame)) {
                    key.ifPresent(loop()::learn);
                    sendKey(proofs);
                }
            }
            case Offer received
            when step == Step.OPENED && join(received.connection()) && isProven(frame) -> offered(received);
            case Offer received when CHALLENGED.contains(step) && isProven(frame) -> offered(received);
            case Ready received when step == Step.ANSWERED && isProven(frame) -> ready(received);
            case Farewell(Optional<EndFailure> why) when CHALLENGED.contains(step) && isProven(frame) -> resigned(why);
            case Reject reject -> fail(Kind.REJECTED, "the connecting side gives up: " + reject.reason());
            case HandshakeMessage _ ->
                // nothing, if its proof was wrong: then it is over already
                fail(
                        Kind.PROTOCOL,
                        "the peer sent %s where none is due"
                                .formatted(frame.message().getClass().getSimpleName()));
        }
    }

    /** Returns whether the peer has proven the frame to be its own; if not, it is refused. */
    private boolean isProven(HandshakeFrame frame) {
        boolean proven = proofs != null && proofs.verify(frame.bytes());
        if (!proven) {
            reject(
                    Kind.UNAUTHENTICATED,
                    "the connecting side does not know this connection's secret: it has no handle of it, or another"
                            + " one's");
        } else if (channel() != null) {
            channel().markProven();
        }
        return proven;
    }

    /** Begins without a Hello, on a channel whose peer has proven itself. Returns whether that can be. */
    private boolean join(ConnectionId offered) {
        connection = offered;
        byte[] opening = channel() == null ? new byte[0] : channel().opening();
        Registration found = opening.length == 0 ? null : find(offered);
        if (found != null) {
            proofs = HandshakeProofs.of(Side.LISTENING, found.secret(), connections.clusterKey());
            proofs.note(opening);
        }
        return found != null;
    }

    private void greeted(Hello received, HandshakeFrame frame) {
        connection = received.connection();
        repeats = received.repeats();
        if (!isOfThisCluster(received)) {
            return;
        }
        Registration found = find(received.connection());
        if (found == null) {
            return;
        }
        proofs = HandshakeProofs.of(Side.LISTENING, found.secret(), connections.clusterKey());
        proofs.note(frame.bytes());
        step = Step.CHALLENGED;
        await("an offer");
        if (found.resumes() || found.isConnected()) {
            loop().beatAll();
        }
        if (received.fills()) {
            sendFillers();
        }
        sendProven(new Challenge(OpaqueBytes.random(HandshakeProofs.BYTES)), proofs);
        if (channel() != null) {
            channel().noteOpening(proofs.said());
        }
    }

    /** Refuses a peer with another key. What it is told is no secret: which of the two has a key at all. */
    private boolean isOfThisCluster(Hello received) {
        Optional<ClusterKey> key = connections.clusterKey();
        if (HandshakeProofs.clusterMark(key, received.connection(), received.nonce())
                .equals(received.clusterMark())) {
            return true;
        }
        String which;
        if (key.isEmpty()) {
            which = "the connecting side has a cluster key and the listener has none";
        } else if (received.clusterMark().equals(HandshakeProofs.NO_CLUSTER)) {
            which = "the listener has a cluster key and the connecting side has none";
        } else {
            which = "the two sides have different cluster keys";
        }
        reject(
                Kind.UNAUTHENTICATED,
                "wrong cluster: " + which
                        + "; give all nodes the same key file, see handshake.clusterKeyFile and its fingerprint in"
                        + " both logs");
        return false;
    }

    /** The registration that the peer means; refuses it if there is none. */
    private @Nullable Registration find(ConnectionId connection) {
        Registration found = connections.find(connection);
        if (found == null) {
            reject(
                    Kind.REJECTED,
                    "no listener for this connection: it was closed, or the handle is from an earlier run");
            return null;
        }
        return found;
    }

    private static boolean isTaken(Registration found) {
        return found.isConnected() && found.handler().isTaken();
    }

    /** Returns whether an offer is one that the registration waits for; refuses it if not. */
    private boolean isDue(Offer received, Registration found) {
        boolean resumes = received.resumeCounts().isPresent();
        if (resumes && !found.resumes()) {
            // its end here is about to be: the peer tries again
            fail(Kind.DISCONNECTED, "the connection is to go on before it has begun here");
        } else if (!resumes && (found.resumes() || isTaken(found))) {
            reject(Kind.REJECTED, "this connection is already established");
        }
        return !isOver();
    }

    private void offered(Offer received) {
        HandshakeProofs agreed = proofs;
        if (agreed == null || !received.connection().equals(connection)) {
            fail(Kind.PROTOCOL, "the peer offers a different connection from the one it began");
            return;
        }
        Registration found = find(received.connection()); // it may be gone since, or established
        if (found == null || !isDue(received, found)) {
            return;
        }
        offer = received;
        registration = found;
        if (!found.begin(this, received.stripe(), repeats)) {
            fail(Kind.ABANDONED, "the same offer has come over a later connection");
            return;
        }
        step = Step.ANSWERING;
        await("the own answer");
        connections.admitted(this, received);
        ask(found, new IncomingOffer(received, agreed.connectionKey(), local, remote, result()));
    }

    /** Nobody will connect any more. */
    private void resigned(Optional<EndFailure> why) {
        HandshakeProofs agreed = proofs;
        Registration found = connection == null ? null : find(connection); // it may be gone since, or established
        if (found == null || agreed == null) {
            return;
        }
        if (isTaken(found)) {
            reject(Kind.REJECTED, "this connection is already established");
            return;
        }
        registration = found;
        String words = why.map(EndFailure::words).orElse("it does not say why");
        endProven(new Farewell(Optional.empty()), agreed, "the connecting side has closed the connection: " + words);
        found.handler().onResigned(words, remote);
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
            refused(failure);
        } else if (proofs == null || offer == null) {
            throw new AssertionError("an answer without an offer");
        } else if (given.kind() != offer.kind()) {
            reject(Kind.PROTOCOL, "offered a link of kind " + offer.kind() + ", answered one of " + given.kind());
        } else {
            answer = given;
            step = Step.ANSWERED;
            await("the peer's readiness");
            sendProven(given, proofs);
        }
    }

    /** A connection that is to go on may do so another time or over another path, unless its end here is lost. */
    private void refused(@Nullable Throwable failure) {
        String why = reason(failure);
        Throwable cause = causeOf(failure);
        if (offer != null && offer.resumeCounts().isPresent() && !(cause instanceof ConnectionLostException)) {
            fail(Kind.DISCONNECTED, why, failure);
        } else if (cause instanceof PeerUnreachableException) {
            endWith(new NotNow(why), Kind.UNREACHABLE, why);
        } else {
            reject(Kind.REJECTED, why);
        }
    }

    private static @Nullable Throwable causeOf(@Nullable Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    private static String reason(@Nullable Throwable failure) {
        Throwable cause = causeOf(failure);
        if (cause == null) {
            return "the listener has no answer";
        }
        String message = cause.getMessage();
        return message == null ? cause.getClass().getSimpleName() : message;
    }

    private void ready(Ready received) {
        if (registration == null || proofs == null || offer == null || answer == null) {
            throw new AssertionError("ready without an offer and an answer");
        }
        if (!registration.established(offer.stripe(), received.stripes())) {
            reject(
                    Kind.PROTOCOL,
                    "the connection is said to have %d queue pairs, of %d that were offered, and another number before"
                            .formatted(received.stripes(), offer.stripe().offered()));
            return;
        }
        sendProven(received, proofs);
        LOGGER.debug(
                "connected by {} from {} at {} (connection {}, {}): own {}, peer {}",
                offer.node().name(),
                remote,
                local,
                offer.connection(),
                offer.kind(),
                answer.endpoint(),
                offer.endpoint());
        Offer agreedOffer = offer;
        Answer agreedAnswer = answer;
        succeed(
                lifeline -> new Established(local, remote, agreedOffer, agreedAnswer, received.stripes(), lifeline),
                proofs,
                offer.isMadeAt(remote.getAddress()) ? offer.node().name() : "");
    }

    @Override
    protected void failed(HandshakeException cause) {
        if (registration == null && CHALLENGED.contains(step) && cause.kind() == Kind.DISCONNECTED) {
            cause.logTo(LOGGER); // who only asks whether this process lives ends so
            return;
        }
        if (registration == null && connection != null && connections.hasEnded(connection)) {
            LOGGER.debug("{}", cause.getMessage());
            return;
        }
        if (registration == null) {
            connections.unauthenticatedFailed(cause);
            return;
        }
        registration.ended(offer == null ? null : offer.stripe(), this);
        cause.logTo(LOGGER);
    }

    /** The peer's address, or the one that it names. */
    InetAddress remoteAddress() {
        return remote.getAddress();
    }

    private void onEventLoop(Runnable task) {
        try {
            loop().eventLoop().execute(task);
        } catch (RejectedExecutionException e) {
            LOGGER.debug("{}: an answer after the event loop was closed", describe(), e);
        }
    }

    @Override
    protected String describe() {
        String which = "";
        if (offer != null) {
            which = " of connection %s (%s)".formatted(offer.connection(), offer.kind());
        } else if (connection != null) {
            which = " of connection " + connection;
        }
        return "handshake%s from %s:%d at %s:%d"
                .formatted(
                        which,
                        remote.getAddress().getHostAddress(),
                        remote.getPort(),
                        local.getAddress().getHostAddress(),
                        local.getPort());
    }

    @Override
    protected String causeOfSilence() {
        return ""; // there is a TCP connection
    }
}
