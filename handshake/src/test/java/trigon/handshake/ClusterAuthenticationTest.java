package trigon.handshake;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.handshake.HandshakeAssert.failureOf;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import trigon.config.cluster.ClusterKey;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.ConnectionSecret;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeMessage;
import trigon.handshake.message.HandshakeMessage.Challenge;
import trigon.handshake.message.HandshakeProofs;
import trigon.handshake.message.OpaqueBytes;
import trigon.handshake.message.RandomMessages;
import trigon.testsupport.Await;

/** Who does not know the cluster key gets nothing, and both sides are told why. */
class ClusterAuthenticationTest {

    private static final ClusterKey KEY = key("one key for all the nodes of this cluster");
    private static final ClusterKey OTHER_KEY = key("another key, of the cluster in the next room");

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
        log.stop();
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

    /** With the right handle, that is: the cluster key alone makes the difference. */
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
            Await.until(
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
            byte[] copied = HandshakeCodec.encode(
                    0,
                    new HandshakeMessage.Hello(
                            connection,
                            nonce,
                            HandshakeProofs.clusterMark(Optional.of(KEY), connection, nonce),
                            false,
                            false));
            try (RawPeer peer = RawPeer.connectingTo(listening.listeningAt(), connection, Node.secretOf(connection))) {
                peer.send(copied);
                assertThat(peer.read().message()).isInstanceOf(Challenge.class);
                peer.say(client.offer(connection));

                AuthenticationTest.assertRejected(peer, "does not know this connection's secret");
            }
            assertThat(listener.isEmpty()).isTrue();
        }
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
        for (byte[] secret :
                List.of(RandomMessages.bytesOf(Node.secretOf(connection).value()), KEY.bytes(), OTHER_KEY.bytes())) {
            log.assertNever(secret);
        }
    }

    private static Node node(String address, Optional<ClusterKey> key) {
        return new Node(address, Node.LONG, 1, key);
    }
}
