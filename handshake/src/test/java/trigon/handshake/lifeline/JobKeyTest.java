package trigon.handshake.lifeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.config.cluster.ClusterKey;
import trigon.handshake.Lifeline;
import trigon.handshake.Node;
import trigon.handshake.OutgoingOffer;
import trigon.handshake.RawPeer;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeMessage.Alive;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Challenge;
import trigon.handshake.message.HandshakeMessage.JobKey;
import trigon.handshake.message.HandshakeMessage.Ready;
import trigon.handshake.message.HandshakeProofs;
import trigon.handshake.message.OpaqueBytes;
import trigon.testsupport.Await;
import trigon.testsupport.ManualClock;

/** The key of a job on its way over lifelines. No time passes: nobody waits for a sign of life. */
class JobKeyTest {

    private final ManualClock clock = new ManualClock();
    private final Node a = node("127.0.0.1", Optional.empty());
    private final Node b = node("127.0.0.2", Optional.empty());
    private final Node c = node("127.0.0.3", Optional.empty());

    private Node node(String address, Optional<ClusterKey> key) {
        return new Node(address, Node.LONG, 1, key, Duration.ofSeconds(10), clock);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
        c.close();
    }

    @Test
    void whoConnectsHasTheSmallestKeyOfAll() throws Exception {
        byte[] smallest = smallest(a, b, c);

        connect(a, b);
        Await.until("a and b have one key", () -> Arrays.equals(key(a), key(b)));
        connect(b, c);

        Await.until(
                "all have the smallest key",
                () -> Arrays.equals(key(a), smallest)
                        && Arrays.equals(key(b), smallest)
                        && Arrays.equals(key(c), smallest));
    }

    /** A process is introduced to another one, and no connection is made; and once more when it has a new key. */
    @Test
    void whoIsIntroducedHasTheSmallestKey() throws Exception {
        byte[] smallest = smallest(a, b, c);
        ConnectionId toB = ConnectionId.random();
        ConnectionId toC = ConnectionId.random();
        b.listen(toB);
        c.listen(toC);

        introduce(a, b, toB);
        Await.until("a and b have one key", () -> Arrays.equals(key(a), key(b)));
        introduce(b, c, toC);
        Await.until("b and c have one key", () -> Arrays.equals(key(b), key(c)));
        Await.until("all have the smallest key", () -> {
            clock.advance(Duration.ofMillis(250));
            introduce(a, b, toB);
            return Arrays.equals(key(a), smallest) && Arrays.equals(key(b), smallest);
        });
    }

    private static void introduce(Node from, Node to, ConnectionId connection) {
        from.client().introduce(from.address(), to.listeningAt(), Node.secretOf(connection), connection);
    }

    @Test
    void withAClusterKeyNoneIsTold() throws Exception {
        Optional<ClusterKey> key =
                Optional.of(new ClusterKey(Path.of("/key"), "key".repeat(11).getBytes(StandardCharsets.US_ASCII)));
        try (Node one = node("127.0.0.4", key);
                Node other = node("127.0.0.5", key)) {
            connect(one, other);
            one.settle();
            other.settle();

            assertThat(one.loop().jobKeys().isShared()).isFalse();
            assertThat(other.loop().jobKeys().isShared()).isFalse();
        }
    }

    @Test
    void whatIsNotProvenIsNoKey() throws Exception {
        ConnectionId connection = ConnectionId.random();
        byte[] before = key(a);
        JobKey forged = new JobKey(1, OpaqueBytes.random(HandshakeProofs.BYTES));
        try (RawPeer peer = RawPeer.connectingTo(a.listeningAt(), connection, Node.secretOf(connection))) {
            Lifeline lifeline = establish(peer, connection);
            peer.send(HandshakeCodec.encode(0, forged));
            peer.send(peer.provenAfterwards(new Alive(1)));
            Await.until("what came behind it", lifeline::isHeard);
            assertThat(a.loop().jobKeys().isShared()).isFalse();
            assertThat(key(a)).isEqualTo(before);

            peer.expectAfterwards(JobKey.class);
            peer.send(peer.provenAfterwards(forged));
            Await.until("the same with a proof", () -> a.loop().jobKeys().isShared());
        }
    }

    private static void connect(Node from, Node to) throws Exception {
        ConnectionId id = ConnectionId.random();
        Node.Listener listener = to.listen(id);
        OutgoingOffer outgoing = from.connect(to.listeningAt(), from.offer(id));
        Node.Attempt attempt = listener.next();
        attempt.answer().complete(to.answer());
        outgoing.answer().get(60, TimeUnit.SECONDS);
        outgoing.sendReady(1).get(60, TimeUnit.SECONDS);
        attempt.incoming().result().get(60, TimeUnit.SECONDS);
    }

    private Lifeline establish(RawPeer peer, ConnectionId connection) throws Exception {
        Node.Listener listener = a.listen(connection);
        peer.hello();
        peer.expect(Challenge.class);
        peer.say(b.offer(connection));
        Node.Attempt attempt = listener.next();
        attempt.answer().complete(a.answer());
        peer.expect(Answer.class);
        peer.say(new Ready(1));
        peer.expect(Ready.class);
        return attempt.incoming().result().get(60, TimeUnit.SECONDS).lifeline();
    }

    private static byte[] key(Node of) {
        return of.loop().jobKeys().smallest();
    }

    private static byte[] smallest(Node... nodes) {
        return Arrays.stream(nodes)
                .map(JobKeyTest::key)
                .min(Arrays::compareUnsigned)
                .orElseThrow();
    }
}
