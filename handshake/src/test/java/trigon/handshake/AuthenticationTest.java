package trigon.handshake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static trigon.handshake.HandshakeAssert.eventually;
import static trigon.handshake.HandshakeAssert.failureOf;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import trigon.config.ClusterKey;
import trigon.handshake.HandshakeException.Kind;
import trigon.handshake.HandshakeMessage.Answer;
import trigon.handshake.HandshakeMessage.Challenge;
import trigon.handshake.HandshakeMessage.Offer;
import trigon.handshake.HandshakeMessage.Ready;
import trigon.handshake.HandshakeMessage.Reject;
import trigon.handshake.HandshakeProofs.Side;

/** Who knows neither the connection's secret nor the cluster's key gets nothing, and both sides are told why. */
class AuthenticationTest {

    private static final ClusterKey KEY = key("one key for all the nodes of this cluster");
    private static final ClusterKey OTHER_KEY = key("another key, of the cluster in the next room");

    private final Node server = new Node("127.0.0.1", Node.LONG);
    private final Node client = new Node("127.0.0.2", Node.LONG);
    private final ConnectionId connection = ConnectionId.random();
    private final CapturedLog log = new CapturedLog();

    private static ClusterKey key(String text) {
        return new ClusterKey(Path.of("/k"), text.getBytes(StandardCharsets.US_ASCII));
    }

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
        eventually(
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
        eventually("the listener's side tells as well", () -> log.has("WARN", "handshake of connection", connection));
        assertThat(listener.isEmpty()).isTrue();
        assertServes(connection, listener);
    }

    @Test
    void anOfferWithoutAProofIsRefused() throws Exception {
        Node.Listener listener = server.listen(connection);
        try (RawPeer peer = RawPeer.challengedBy(server, connection)) {
            peer.send(HandshakeCodec.encode(client.offer(connection)));

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
            peer.send(HandshakeCodec.encode(new Ready(1)));

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
                challenge = listener.challenge();
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
                byte[] challenge = HandshakeCodec.encode(new Challenge(OpaqueBytes.random(HandshakeProofs.BYTES)));
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
                        .hasMessageContaining("version 6");
                assertRejected(older, "version 1 of the handshake and this Trigon version 6");
            }
        }
    }

    @Test
    void oneClusterConnects() throws Exception {
        try (Node listening = node("127.0.0.3", Optional.of(KEY));
                Node connecting = node("127.0.0.4", Optional.of(KEY))) {
            Node.Listener listener = listening.listen(connection);
            OutgoingOffer outgoing = connecting.connect(listening.listeningAt(), connecting.offer(connection));
            listener.next().answer().complete(listening.answer());
            outgoing.answer().get(60, TimeUnit.SECONDS);

            assertThat(outgoing.sendReady(1).get(60, TimeUnit.SECONDS)).isNotNull();
        }
    }

    @Test
    void anotherClusterIsRefusedOnBothSides() throws Exception {
        assertWrongCluster(Optional.of(KEY), Optional.of(OTHER_KEY), "the two sides have different cluster keys");
        assertWrongCluster(
                Optional.of(KEY), Optional.empty(), "the listener has a cluster key and the connecting side has none");
        assertWrongCluster(
                Optional.empty(), Optional.of(KEY), "the connecting side has a cluster key and the listener has none");
    }

    /** With the right handle, that is: the cluster's key alone makes the difference. */
    private void assertWrongCluster(Optional<ClusterKey> listeners, Optional<ClusterKey> connectors, String reason)
            throws Exception {
        try (Node listening = node("127.0.0.3", listeners);
                Node connecting = node("127.0.0.4", connectors)) {
            Node.Listener listener = listening.listen(connection);

            OutgoingOffer outgoing = connecting.connect(listening.listeningAt(), connecting.offer(connection));

            assertThat(failureOf(outgoing.answer()))
                    .returns(Kind.REJECTED, HandshakeException::kind)
                    .hasMessageContaining("wrong cluster: " + reason)
                    .hasMessageContaining("handshake.clusterKeyFile");
            eventually(
                    "the listener's side tells as well",
                    () -> log.has("WARN", "from 127.0.0.4:", "wrong cluster: " + reason));
            assertThat(listener.isEmpty()).isTrue();
        }
    }

    @Test
    void theHandleAloneIsNotEnoughWhereThereIsAClusterKey() throws Exception {
        try (Node listening = node("127.0.0.3", Optional.of(KEY))) {
            Node.Listener listener = listening.listen(connection);
            OpaqueBytes nonce = OpaqueBytes.random(HandshakeProofs.BYTES);
            // even one that has seen another's hello, and with it a right mark
            byte[] copied = HandshakeCodec.encode(new HandshakeMessage.Hello(
                    connection, nonce, HandshakeProofs.clusterMark(Optional.of(KEY), connection, nonce)));
            try (RawPeer peer = RawPeer.connectingTo(listening.listeningAt(), connection, Node.secretOf(connection))) {
                peer.send(copied);
                assertThat(peer.read().message()).isInstanceOf(Challenge.class);
                peer.say(client.offer(connection));

                assertRejected(peer, "does not know this connection's secret");
            }
            assertThat(listener.isEmpty()).isTrue();
        }
    }

    @Test
    void aStrangerHearsNothingOfWhoListens() throws Exception {
        server.listen(connection);
        try (Socket stranger = new Socket(server.address(), server.listeningAt().getPort())) {
            stranger.setSoTimeout(200);
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> stranger.getInputStream().read()); // nothing comes before the hello
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
            assertRejected(late, "established already");
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
            peer.send(HandshakeCodec.encode(new Reject("go away")));
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

    @Test
    void noSecretIsLogged() throws Exception {
        try (Node listening = node("127.0.0.3", Optional.of(KEY));
                Node connecting = node("127.0.0.4", Optional.of(KEY));
                Node outsider = node("127.0.0.5", Optional.of(OTHER_KEY))) {
            Node.Listener listener = listening.listen(connection);
            failureOf(outsider.connect(listening.listeningAt(), outsider.offer(connection))
                    .answer());
            failureOf(connecting
                    .connect(listening.listeningAt(), ConnectionSecret.random(), connecting.offer(connection))
                    .answer());
            OutgoingOffer outgoing = connecting.connect(listening.listeningAt(), connecting.offer(connection));
            listener.next().answer().complete(listening.answer());
            outgoing.answer().get(60, TimeUnit.SECONDS);
            outgoing.sendReady(1).get(60, TimeUnit.SECONDS);
        }

        assertThat(log.lines()).isNotEmpty();
        for (byte[] secret : List.of(Node.secretOf(connection).value().toArray(), KEY.bytes(), OTHER_KEY.bytes())) {
            log.assertNever(secret);
        }
    }

    private static Node node(String address, Optional<ClusterKey> key) {
        return new Node(address, Node.LONG, 1, key);
    }

    private static void assertRejected(RawPeer peer, String reason) throws IOException {
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
