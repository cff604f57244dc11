package trigon.handshake.listen;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.handshake.HandshakeAssert.failureOf;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.handshake.Node;
import trigon.handshake.OutgoingOffer;
import trigon.handshake.RawPeer;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeMessage;
import trigon.handshake.message.HandshakeMessage.Challenge;
import trigon.handshake.message.HandshakeMessage.Ready;
import trigon.testsupport.Await;
import trigon.testsupport.ManualClock;

/** Who connects and is silent, slow, broken or not Trigon at all, as raw sockets. */
class HostilePeerTest {

    /** Waited out by some tests. */
    private static final Duration SHORT = Duration.ofMillis(1500);

    private final ManualClock clock = new ManualClock();
    private final Node server = new Node("127.0.0.1", SHORT, clock);
    private final Node patientServer = new Node("127.0.0.1", Node.LONG);
    private final Node client = new Node("127.0.0.2", SHORT);
    private final ConnectionId connection = ConnectionId.random();

    @AfterEach
    void close() {
        client.close();
        server.close();
        patientServer.close();
    }

    @Test
    void aSilentClientIsClosedAtTheDeadline() throws Exception {
        try (Socket silent = connect(server)) {
            passUntil("the silent client's end", () -> closedBy(silent));
        }
        assertServes(server);
    }

    @Test
    void silentClientsDisturbNobody() throws Exception {
        List<Socket> silent = new ArrayList<>();
        try {
            for (int i = 0; i < UnauthenticatedConnections.MAX_PER_ADDRESS + 20; i++) {
                silent.add(connect(patientServer));
            }
            assertServes(patientServer);
            // the oldest made room for the newest
            assertThat(silent.getFirst().getInputStream().read()).isEqualTo(-1);
        } finally {
            for (Socket socket : silent) {
                socket.close();
            }
        }
    }

    @Test
    void aHttpRequestIsClosedAtOnce() throws Exception {
        try (Socket http = connect(patientServer)) {
            http.getOutputStream().write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertClosed(http);
        }
        assertServes(patientServer);
    }

    @Test
    void garbageIsClosedAtOnce() throws Exception {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int i = 0; i < 50; i++) {
            byte[] garbage = new byte[8 + random.nextInt(10_000)];
            random.nextBytes(garbage);
            if (random.nextBoolean()) {
                // a good beginning
                System.arraycopy(
                        new byte[] {'T', 'r', 'g', 'M', 2, (byte) (1 + random.nextInt(6)), 0, 80}, 0, garbage, 0, 8);
            }
            try (Socket socket = connect(patientServer)) {
                RawPeer.send(socket, garbage);
                socket.shutdownOutput();
                assertClosed(socket);
            }
        }
        assertServes(patientServer);
    }

    @Test
    void aTooLongFrameIsClosedAtItsHeader() throws Exception {
        try (Socket socket = connect(patientServer)) {
            RawPeer.send(socket, new byte[] {'T', 'r', 'g', 'M', 2, 4, (byte) 0xFF, (byte) 0xFF});
            assertClosed(socket);
        }
    }

    @Test
    void anotherVersionIsToldAndClosedAtItsHeader() throws Exception {
        byte[] offer = HandshakeCodec.encode(0, client.offer(connection));
        offer[4] = 77;
        try (Socket socket = connect(patientServer)) {
            RawPeer.send(socket, Arrays.copyOf(offer, 8));
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith("TrgM")
                    .contains("version 77");
        }
    }

    @Test
    void bytesMayComeOneByOne() throws Exception {
        Node.Listener listener = patientServer.listen(connection);
        try (RawPeer slow = RawPeer.connectingTo(patientServer.listeningAt(), connection, Node.secretOf(connection))) {
            for (byte b : slow.helloFrame()) {
                slow.send(b);
            }
            slow.expect(Challenge.class);
            for (byte b : slow.proven(client.offer(connection))) {
                slow.send(b);
            }
            Node.Attempt attempt = listener.next();
            answer(attempt, slow);
            for (byte b : slow.proven(new Ready(1))) {
                slow.send(b);
            }
            assertThat(attempt.incoming().result().get(60, TimeUnit.SECONDS)).isNotNull();
        }
    }

    @Test
    void slowBytesDoNotMoveTheDeadline() throws Exception {
        try (Socket slow = connect(server)) {
            byte[] offer = HandshakeCodec.encode(0, client.offer(connection));
            int sent = 0;
            while (!closedBy(slow) && sent < offer.length - 1) {
                RawPeer.send(slow, new byte[] {offer[sent++]});
                pass(Duration.ofMillis(20));
            }
            assertThat(sent).isLessThan(offer.length - 1);
        }
    }

    @Test
    void anOfferOutOfTurnFailsTheAttempt() throws Exception {
        Node.Listener listener = patientServer.listen(connection);
        try (RawPeer peer = RawPeer.challengedBy(patientServer, connection)) {
            peer.say(client.offer(connection));
            Node.Attempt attempt = listener.next();
            peer.say(client.offer(connection));

            assertThat(failureOf(attempt.incoming().result()))
                    .returns(Kind.PROTOCOL, HandshakeException::kind)
                    .hasMessageContaining("Offer where none is due");
            peer.readToTheEnd();
        }
    }

    @Test
    void readyBeforeTheAnswerFailsTheAttempt() throws Exception {
        Node.Listener listener = patientServer.listen(connection);
        try (RawPeer peer = RawPeer.challengedBy(patientServer, connection)) {
            peer.say(client.offer(connection));
            Node.Attempt attempt = listener.next();
            peer.say(new Ready(1));

            assertThat(failureOf(attempt.incoming().result())).hasMessageContaining("Ready where none is due");
        }
    }

    @Test
    void readyTwiceEstablishesOnce() throws Exception {
        Node.Listener listener = patientServer.listen(connection);
        try (RawPeer peer = RawPeer.challengedBy(patientServer, connection)) {
            peer.say(client.offer(connection));
            Node.Attempt attempt = listener.next();
            answer(attempt, peer);
            peer.say(new Ready(1));
            peer.say(new Ready(1));

            assertThat(attempt.incoming().result().get(60, TimeUnit.SECONDS)).isNotNull();
        }
    }

    @Test
    void aDisconnectBeforeTheAnswerReleasesTheAttempt() throws Exception {
        Node.Listener listener = patientServer.listen(connection);
        Node.Attempt attempt;
        try (RawPeer peer = RawPeer.challengedBy(patientServer, connection)) {
            peer.say(client.offer(connection));
            attempt = listener.next();
        }

        assertThat(failureOf(attempt.incoming().result()))
                .returns(Kind.DISCONNECTED, HandshakeException::kind)
                .hasMessageContaining("before the own answer came");
        attempt.answer().complete(patientServer.answer()); // too late, and harmless
        assertServes(patientServer, connection, listener);
    }

    @Test
    void aDisconnectBeforeReadyReleasesTheAttempt() throws Exception {
        Node.Listener listener = patientServer.listen(connection);
        Node.Attempt attempt;
        try (RawPeer peer = RawPeer.challengedBy(patientServer, connection)) {
            peer.say(client.offer(connection));
            attempt = listener.next();
            attempt.answer().complete(patientServer.answer());
            peer.expect(HandshakeMessage.Answer.class);
            peer.socket().setSoLinger(true, 0); // a reset, as from a dying process
        }

        assertThat(failureOf(attempt.incoming().result())).returns(Kind.DISCONNECTED, HandshakeException::kind);
        assertServes(patientServer, connection, listener);
    }

    @Test
    void aPeerThatIsNeverReadyTimesOut() throws Exception {
        Node.Listener listener = server.listen(connection);
        try (RawPeer peer = RawPeer.challengedBy(server, connection)) {
            peer.say(client.offer(connection));
            Node.Attempt attempt = listener.next();
            attempt.answer().complete(server.answer());
            peer.expect(HandshakeMessage.Answer.class);

            pass(SHORT);

            assertThat(failureOf(attempt.incoming().result()))
                    .returns(Kind.TIMED_OUT, HandshakeException::kind)
                    .hasMessageContaining("the peer's readiness did not come within 1500 ms");
        }
    }

    @Test
    void anOwnAnswerThatNeverComesTimesOut() throws Exception {
        Node.Listener listener = server.listen(connection);
        try (RawPeer peer = RawPeer.challengedBy(server, connection)) {
            peer.say(client.offer(connection));
            Node.Attempt attempt = listener.next();

            pass(SHORT);

            assertThat(failureOf(attempt.incoming().result()))
                    .returns(Kind.TIMED_OUT, HandshakeException::kind)
                    .hasMessageContaining("the own answer did not come within 1500 ms");
        }
    }

    private void pass(Duration time) {
        clock.advance(time);
        server.settle();
    }

    /** The server notices by itself that somebody has connected: its time begins then. */
    private void passUntil(String what, BooleanSupplier condition) {
        Await.until(what, () -> {
            pass(SHORT.dividedBy(3));
            return condition.getAsBoolean();
        });
    }

    private void assertServes(Node node) throws Exception {
        ConnectionId fresh = ConnectionId.random();
        assertServes(node, fresh, node.listen(fresh));
    }

    private static void assertServes(Node node, ConnectionId offered, Node.Listener listener) throws Exception {
        try (Node other = new Node("127.0.0.3", Node.LONG)) {
            OutgoingOffer outgoing = other.connect(node.listeningAt(), other.offer(offered));
            listener.next().answer().complete(node.answer());
            outgoing.answer().get(60, TimeUnit.SECONDS);
            outgoing.sendReady(1).get(60, TimeUnit.SECONDS);
        }
    }

    private static Socket connect(Node node) throws IOException {
        Socket socket = new Socket();
        socket.setSoTimeout(60_000);
        socket.connect(node.listeningAt());
        return socket;
    }

    /** Answers for the server and reads that as the peer. */
    private void answer(Node.Attempt attempt, RawPeer peer) throws IOException {
        HandshakeMessage.Answer answer = patientServer.answer();
        attempt.answer().complete(answer);
        assertThat(peer.expect(HandshakeMessage.Answer.class)).isEqualTo(answer);
    }

    /** The other side closes; a reason may come before. */
    private static void assertClosed(Socket socket) throws IOException {
        ByteBuffer rest = ByteBuffer.allocate(8192);
        try (InputStream in = socket.getInputStream()) {
            while (in.read(rest.array()) >= 0) {
                rest.clear();
            }
        } catch (SocketException e) {
            assertThat(e).hasMessageContaining("reset");
        }
    }

    private static boolean closedBy(Socket socket) {
        try {
            socket.setSoTimeout(1);
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }
}
