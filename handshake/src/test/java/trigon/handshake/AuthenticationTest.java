package trigon.handshake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static trigon.handshake.HandshakeAssert.failureOf;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.ConnectionSecret;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Challenge;
import trigon.handshake.message.HandshakeMessage.Closed;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.handshake.message.HandshakeMessage.Ready;
import trigon.handshake.message.HandshakeMessage.Reject;
import trigon.handshake.message.HandshakeProofs;
import trigon.handshake.message.HandshakeProofs.Side;
import trigon.handshake.message.OpaqueBytes;
import trigon.testsupport.Await;

/** Who does not know the connection's secret gets nothing, and both sides are told why. */
class AuthenticationTest {

    private final Node server = new Node("127.0.0.1", Node.LONG);
    private final Node client = new Node("127.0.0.2", Node.LONG);
    private final ConnectionId connection = ConnectionId.random();
    private final CapturedLog log = new CapturedLog();

    @BeforeEach
    void capture() {
        log.start();
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
        log.stop();
    }

    @Test
    void whoDoesNotKnowTheSecretIsRefusedOnBothSides() throws Exception {
        Node.Listener listener = server.listen(connection);

        OutgoingOffer outgoing =
                client.connect(server.listeningAt(), ConnectionSecret.random(), client.offer(connection));

        assertThat(failureOf(outgoing.answer()))
                .returns(Kind.UNAUTHENTICATED, HandshakeException::kind)
                .hasMessageContaining("the listener does not know this connection's secret");
        Await.until(
                "the listener's side tells as well", () -> log.has("WARN", "the connecting side gives up", connection));
        assertThat(log.has("WARN", "from 127.0.0.2 to 127.0.0.1", connection)).isTrue();
        assertThat(listener.isEmpty()).isTrue();
        assertServes(connection, listener);
    }

    @Test
    void whoOffersWithoutKnowingTheSecretIsToldSo() throws Exception {
        Node.Listener listener = server.listen(connection);
        try (RawPeer peer = RawPeer.connectingTo(server.listeningAt(), connection, ConnectionSecret.random())) {
            peer.hello();
            assertThat(peer.read().message()).isInstanceOf(Challenge.class);
            peer.say(client.offer(connection));

            assertRejected(peer, "does not know this connection's secret");
        }
        Await.until("the listener's side tells as well", () -> log.has("WARN", "handshake of connection", connection));
        assertThat(listener.isEmpty()).isTrue();
        assertServes(connection, listener);
    }

    @Test
    void anOfferWithoutAProofIsRefused() throws Exception {
        Node.Listener listener = server.listen(connection);
        try (RawPeer peer = RawPeer.challengedBy(server, connection)) {
            peer.send(HandshakeCodec.encode(0, client.offer(connection)));

            assertRejected(peer, "does not know this connection's secret");
        }
        assertThat(listener.isEmpty()).isTrue();
    }

    @Test
    void anOfferWithoutAHelloIsRefused() throws Exception {
        server.listen(connection);
        try (RawPeer peer = RawPeer.connectingTo(server.listeningAt(), connection, Node.secretOf(connection))) {
            peer.say(client.offer(connection));

            assertThatExceptionOfType(EOFException.class).isThrownBy(peer::read);
        }
    }

    @Test
    void aProofIsGoodForOneConnectionOnly() throws Exception {
        ConnectionId other = ConnectionId.random();
        Node.Listener listener = server.listen(connection);
        Node.Listener otherListener = server.listen(other);
        try (RawPeer peer = RawPeer.challengedBy(server, connection)) {
            peer.say(client.offer(other)); // knows the one, wants the other

            assertThatExceptionOfType(EOFException.class).isThrownBy(peer::read);
        }
        assertThat(listener.isEmpty() && otherListener.isEmpty()).isTrue();
    }

    @Test
    void readyWithoutAProofIsRefused() throws Exception {
        Node.Listener listener = server.listen(connection);
        try (RawPeer peer = RawPeer.challengedBy(server, connection)) {
            peer.say(client.offer(connection));
            Node.Attempt attempt = listener.next();
            attempt.answer().complete(server.answer());
            peer.expect(Answer.class);
            peer.send(HandshakeCodec.encode(0, new Ready(1)));

            assertThat(failureOf(attempt.incoming().result())).returns(Kind.UNAUTHENTICATED, HandshakeException::kind);
        }
    }

    @Test
    void aReplayedConversationIsRefused() throws Exception {
        Node.Listener listener = server.listen(connection);
        byte[] hello;
        byte[] offer;
        byte[] ready;
        try (RawPeer peer = RawPeer.connectingTo(server.listeningAt(), connection, Node.secretOf(connection))) {
            hello = peer.helloFrame();
            peer.send(hello);
            peer.expect(Challenge.class);
            offer = peer.proven(client.offer(connection));
            peer.send(offer);
            Node.Attempt attempt = listener.next();
            attempt.answer().complete(server.answer());
            peer.expect(Answer.class);
            ready = peer.proven(new Ready(1));
            peer.send(ready);
            attempt.incoming().result().get(60, TimeUnit.SECONDS);
        }
        server.listeners().unregister(connection);
        Node.Listener again = server.listen(connection); // the same id and secret once more, which no node would give

        try (RawPeer replay = RawPeer.connectingTo(server.listeningAt(), connection, ConnectionSecret.random())) {
            replay.send(hello);
            assertThat(replay.read().message()).isInstanceOf(Challenge.class);
            replay.send(offer);
            replay.send(ready);

            assertRejected(replay, "does not know this connection's secret");
        }
        assertThat(again.isEmpty()).isTrue();
        assertServes(connection, again);
    }

    @Test
    void aReplayedListenerIsRefused() throws Exception {
        byte[] challenge;
        byte[] answer;
        try (ServerSocket socket = new ServerSocket(0, 1, server.address())) {
            OutgoingOffer first = client.connect(at(socket), client.offer(connection));
            try (RawPeer listener = RawPeer.listening(socket.accept(), connection, Node.secretOf(connection))) {
                challenge = listener.greet();
                listener.expect(Offer.class);
                answer = listener.proven(server.answer());
                listener.send(answer);
                first.answer().get(60, TimeUnit.SECONDS);
            }

            OutgoingOffer second = client.connect(at(socket), client.offer(connection));
            try (RawPeer replay = RawPeer.listening(socket.accept(), connection, Node.secretOf(connection))) {
                replay.read();
                replay.send(challenge);
                replay.send(answer);

                assertThat(failureOf(second.answer())).returns(Kind.UNAUTHENTICATED, HandshakeException::kind);
                // it does not say what it would have offered
                assertThat(replay.read().message()).isInstanceOf(Reject.class);
            }
        }
    }

    @Test
    void aListenerThatReflectsIsRefused() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, server.address())) {
            OutgoingOffer outgoing = client.connect(at(socket), client.offer(connection));
            try (RawPeer mirror = RawPeer.listening(socket.accept(), connection, Node.secretOf(connection))) {
                mirror.send(mirror.read().bytes());

                assertThat(failureOf(outgoing.answer()))
                        .returns(Kind.PROTOCOL, HandshakeException::kind)
                        .hasMessageContaining("Hello where none is due");
            }
        }
    }

    @Test
    void theKeyOfOneSideIsNoGoodForTheOther() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, server.address())) {
            OutgoingOffer outgoing = client.connect(at(socket), client.offer(connection));
            try (RawPeer mirror = RawPeer.listening(socket.accept(), connection, Node.secretOf(connection))) {
                HandshakeProofs ofTheOtherSide =
                        HandshakeProofs.of(Side.CONNECTING, Node.secretOf(connection), Optional.empty());
                ofTheOtherSide.note(mirror.read().bytes());
                byte[] challenge = HandshakeCodec.encode(0, new Challenge(OpaqueBytes.random(HandshakeProofs.BYTES)));
                ofTheOtherSide.prove(challenge);
                mirror.send(challenge);

                assertThat(failureOf(outgoing.answer())).returns(Kind.UNAUTHENTICATED, HandshakeException::kind);
            }
        }
    }

    @Test
    void anotherVersionIsRefusedOnBothSides() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, server.address())) {
            OutgoingOffer outgoing = client.connect(at(socket), client.offer(connection));
            try (RawPeer older = RawPeer.listening(socket.accept(), connection, Node.secretOf(connection))) {
                older.read();
                older.send((byte) 'T', (byte) 'r', (byte) 'g', (byte) 'M', (byte) 1, (byte) 4, (byte) 0, (byte) 0);

                assertThat(failureOf(outgoing.answer()))
                        .returns(Kind.PROTOCOL, HandshakeException::kind)
                        .hasMessageContaining("version 1")
                        .hasMessageContaining("version 18");
                assertRejected(older, "version 1 of the handshake and this Trigon version 18");
            }
        }
    }

    @Test
    void aStrangerHearsNothingOfWhoListens() throws Exception {
        server.listen(connection);
        try (Socket stranger = new Socket(server.address(), server.listeningAt().getPort())) {
            stranger.shutdownOutput();
            assertThat(stranger.getInputStream().readAllBytes()).isEmpty(); // nothing comes before the hello
        }
        try (RawPeer guessing =
                RawPeer.connectingTo(server.listeningAt(), ConnectionId.random(), ConnectionSecret.random())) {
            guessing.hello();
            assertThat(guessing.read().message())
                    .isInstanceOfSatisfying(
                            Reject.class, reject -> assertThat(reject.reason()).doesNotContain(connection.toString()));
        }
    }

    @Test
    void aStrangerCannotEndOrUseAnEstablishedLink() throws Exception {
        Node.Listener listener = server.listen(connection);
        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(connection));
        Node.Attempt attempt = listener.next();
        attempt.answer().complete(server.answer());
        outgoing.answer().get(60, TimeUnit.SECONDS);
        Lifeline atClient = outgoing.sendReady(1).get(60, TimeUnit.SECONDS).lifeline();
        Lifeline atServer =
                attempt.incoming().result().get(60, TimeUnit.SECONDS).lifeline();

        // even one that knows the secret
        try (RawPeer late = RawPeer.challengedBy(server, connection)) {
            late.say(client.offer(connection));
            assertThat(late.read().message())
                    .isInstanceOf(Reject.class)
                    .asString()
                    .contains("already established");
            assertThat(late.read().message()).isInstanceOf(Closed.class);
        }

        assertThat(atClient.lost()).isNotDone();
        assertThat(atServer.lost()).isNotDone();
        assertThat(listener.isEmpty()).isTrue();
    }

    @Test
    void whatComesOverALifelineIsNotListenedTo() throws Exception {
        Node.Listener listener = server.listen(connection);
        try (RawPeer peer = RawPeer.challengedBy(server, connection)) {
            peer.say(client.offer(connection));
            Node.Attempt attempt = listener.next();
            attempt.answer().complete(server.answer());
            peer.expect(Answer.class);
            peer.say(new Ready(1));
            Lifeline lifeline =
                    attempt.incoming().result().get(60, TimeUnit.SECONDS).lifeline();
            peer.expect(Ready.class);

            byte[] garbage = new byte[1 << 20];
            Arrays.fill(garbage, (byte) 'x');
            peer.send(garbage);
            peer.send(HandshakeCodec.encode(0, new Reject("go away")));
            peer.socket().getOutputStream().flush();
            assertServes(ConnectionId.random());
            assertThat(lifeline.lost()).isNotDone();

            peer.socket().close();
            lifeline.lost().get(60, TimeUnit.SECONDS);
        }
    }

    @Test
    void onlyTheLinkAddressesAreListenedOn() {
        InetSocketAddress elsewhere =
                new InetSocketAddress("127.0.0.77", server.listeningAt().getPort());

        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> new Socket(elsewhere.getAddress(), elsewhere.getPort()).close())
                .withMessageContaining("refused");
        assertThat(server.listeners().addresses())
                .allSatisfy(bound ->
                        assertThat(bound.getAddress().isAnyLocalAddress()).isFalse());
    }

    static void assertRejected(RawPeer peer, String reason) throws IOException {
        assertThat(peer.read().message())
                .isInstanceOfSatisfying(
                        Reject.class, reject -> assertThat(reject.reason()).contains(reason));
        peer.readToTheEnd();
    }

    private void assertServes(ConnectionId offered) throws Exception {
        assertServes(offered, server.listen(offered));
    }

    private void assertServes(ConnectionId offered, Node.Listener listener) throws Exception {
        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(offered));
        listener.next().answer().complete(server.answer());
        outgoing.answer().get(60, TimeUnit.SECONDS);
        outgoing.sendReady(1).get(60, TimeUnit.SECONDS);
    }

    private static InetSocketAddress at(ServerSocket socket) {
        return new InetSocketAddress(socket.getInetAddress(), socket.getLocalPort());
    }
}
