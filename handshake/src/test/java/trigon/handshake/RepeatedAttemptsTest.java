package trigon.handshake;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.handshake.HandshakeAssert.failureOf;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.EndFailure;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeMessage.Alive;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Challenge;
import trigon.handshake.message.HandshakeMessage.Closed;
import trigon.handshake.message.HandshakeMessage.Filler;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.handshake.message.HandshakeMessage.Ready;
import trigon.handshake.message.HandshakeProofs;
import trigon.handshake.message.OpaqueBytes;
import trigon.testsupport.Await;
import trigon.testsupport.ManualClock;

/** Attempts that follow each other where something was lost on the way: TCP connections, confirmations, the peer. */
@Timeout(120)
class RepeatedAttemptsTest {

    /** A third of it is the time after which there is a second TCP connection. */
    private static final Duration TIMEOUT = Duration.ofSeconds(9);

    private static final Duration THIRD = TIMEOUT.dividedBy(3);

    /** More connections than an attempt makes. */
    private static final int MANY = 16;

    private final ManualClock clock = new ManualClock();
    private final Node server = new Node("127.0.0.1", TIMEOUT, clock);
    private final Node client = new Node("127.0.0.2", TIMEOUT, clock);
    private final ConnectionId connection = ConnectionId.random();

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    @Test
    void aSecondConnectionIsMadeWhereTheFirstIsNotHeard() throws Exception {
        Node.Listener listener = server.listen(connection);
        try (LossyWay way = new LossyWay(server.listeningAt(), Loss.ALL)) {
            OutgoingOffer outgoing = client.connect(way.address(), client.offer(connection));
            Await.until("the first connection", () -> way.connections() == 1);

            pass(THIRD);

            Answer answer = server.answer();
            listener.next().answer().complete(answer);

            assertThat(outgoing.answer().get(60, TimeUnit.SECONDS)).isEqualTo(answer);
            assertThat(outgoing.sendReady(1).get(60, TimeUnit.SECONDS).answer()).isEqualTo(answer);
            assertThat(way.connections()).isGreaterThan(1);
            assertThat(listener.isEmpty()).isTrue();
        }
    }

    @Test
    void theSecondOneCountsWhereTheAnswerToTheFirstIsLost() throws Exception {
        Node.Listener listener = server.listen(connection);
        try (LossyWay way = new LossyWay(server.listeningAt(), Loss.ANSWER)) {
            OutgoingOffer outgoing = client.connect(way.address(), client.offer(connection));
            Node.Attempt lost = listener.next();
            lost.answer().complete(server.answer());
            Await.until("the lost answer", () -> way.lost() > 0);

            pass(THIRD);
            pass(THIRD); // the listener has proven itself: it gets two

            Node.Attempt heard = listener.next();
            assertThat(failureOf(lost.incoming().result()).kind()).isIn(Kind.ABANDONED, Kind.DISCONNECTED);
            Answer answer = server.answer();
            heard.answer().complete(answer);

            assertThat(outgoing.answer().get(60, TimeUnit.SECONDS)).isEqualTo(answer);
            assertThat(outgoing.key()).isEqualTo(heard.incoming().key());
            Established established = outgoing.sendReady(1).get(60, TimeUnit.SECONDS);
            assertThat(heard.incoming().result().get(60, TimeUnit.SECONDS).answer())
                    .isEqualTo(answer);
            established.lifeline().release();
        }
    }

    /** A busy listener reads them in any order. */
    @Test
    void theSecondOneCountsThoughTheFirstIsReadLater() throws Exception {
        Node.Listener listener = server.listen(connection);
        Offer offer = client.offer(connection);
        try (RawPeer first = RawPeer.connectingTo(server.listeningAt(), connection, Node.secretOf(connection));
                RawPeer second = RawPeer.connectingTo(server.listeningAt(), connection, Node.secretOf(connection))) {
            first.hello();
            first.expect(Challenge.class);
            second.send(second.helloFrame(true));
            second.expect(Challenge.class);
            second.say(offer);
            Node.Attempt attempt = listener.next();

            first.say(offer);

            assertThat(first.read().message()).isInstanceOf(Closed.class);
            attempt.answer().complete(server.answer());
            second.expect(Answer.class);
            second.say(new Ready(1));
            assertThat(attempt.incoming().result().get(60, TimeUnit.SECONDS)).isNotNull();
            assertThat(listener.isEmpty()).isTrue();
        }
    }

    @Test
    void whereNeitherIsHeardTheAttemptEndsInItsTime() throws Exception {
        server.listen(connection);
        try (LossyWay way = new LossyWay(
                server.listeningAt(), Collections.nCopies(MANY, Loss.ALL).toArray(Loss[]::new))) {
            OutgoingOffer outgoing = client.connect(way.address(), client.offer(connection));
            Await.until("the first connection", () -> way.connections() == 1);
            pass(THIRD);
            Await.until("more connections", () -> way.connections() > 1);
            pass(THIRD);
            pass(THIRD);

            assertThat(failureOf(outgoing.answer())).returns(Kind.TIMED_OUT, HandshakeException::kind);
            assertThat(failureOf(outgoing.result())).returns(Kind.TIMED_OUT, HandshakeException::kind);
        }
    }

    @Test
    void aLinkThatNobodyHasTakenGivesWayToANewAttempt() throws Exception {
        Node.Listener listener = server.listen(connection);
        listener.takes = false;
        OutgoingOffer first = client.connect(server.listeningAt(), client.offer(connection));
        Node.Attempt committed = listener.next();
        committed.answer().complete(server.answer());
        first.answer().get(60, TimeUnit.SECONDS);
        var _ = first.sendReady(1);
        Established former = committed.incoming().result().get(60, TimeUnit.SECONDS);

        // as if the confirmation of the first had been lost
        OutgoingOffer second = client.connect(server.listeningAt(), client.offer(connection));
        Node.Attempt next = listener.next();
        Answer answer = server.answer();
        next.answer().complete(answer);

        assertThat(second.answer().get(60, TimeUnit.SECONDS)).isEqualTo(answer);
        assertThat(second.sendReady(1).get(60, TimeUnit.SECONDS).answer()).isEqualTo(answer);
        former.lifeline().release();

        listener.takes = true;
        OutgoingOffer late = client.connect(server.listeningAt(), client.offer(connection));
        assertThat(failureOf(late.answer())).hasMessageContaining("already established");
    }

    @Test
    void aListenerWithoutAWayBackNowIsNoRefusal() throws Exception {
        Node.Listener listener = server.listen(connection);
        OutgoingOffer first = client.connect(server.listeningAt(), client.offer(connection));
        listener.next()
                .answer()
                .completeExceptionally(new PeerUnreachableException("no route to it", new IllegalStateException()));

        assertThat(failureOf(first.answer()))
                .hasMessageContaining("cannot answer: no route to it")
                .returns(true, HandshakeException::mayPass)
                .returns(false, HandshakeException::isRefusal);

        OutgoingOffer second = client.connect(server.listeningAt(), client.offer(connection));
        Answer answer = server.answer();
        listener.next().answer().complete(answer);
        assertThat(second.answer().get(60, TimeUnit.SECONDS)).isEqualTo(answer);
    }

    @Test
    void theListenerHearsOfItsConfirmationAtOnce() throws Exception {
        Node.Listener listener = server.listen(connection);
        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(connection));
        Node.Attempt attempt = listener.next();
        attempt.answer().complete(server.answer());
        outgoing.answer().get(60, TimeUnit.SECONDS);
        var _ = outgoing.sendReady(1);

        Lifeline lifeline =
                attempt.incoming().result().get(60, TimeUnit.SECONDS).lifeline();

        Await.until("the sender's first sign of life", lifeline::isHeard);
    }

    @Test
    void aPeerThatGivesUpSaysSo() throws Exception {
        Node.Listener listener = server.listen(connection);

        client.client()
                .resign(client.address(), server.listeningAt(), Node.secretOf(connection), connection, why())
                .get(60, TimeUnit.SECONDS);

        assertThat(listener.resignations.poll(60, TimeUnit.SECONDS)).isEqualTo("no path works");
        assertThat(listener.isEmpty()).isTrue();
    }

    @Test
    void whoDoesNotKnowTheSecretEndsNothing() throws Exception {
        Node.Listener listener = server.listen(connection);

        assertThat(failureOf(client.client()
                        .resign(
                                client.address(),
                                server.listeningAt(),
                                Node.secretOf(ConnectionId.random()),
                                connection,
                                why())))
                .returns(Kind.UNAUTHENTICATED, HandshakeException::kind);

        assertThat(listener.resignations).isEmpty();
    }

    @Test
    void nobodyWhoWaitsIsSaidToThePeerThatGivesUp() throws Exception {
        assertThat(failureOf(client.client()
                        .resign(client.address(), server.listeningAt(), Node.secretOf(connection), connection, why())))
                .returns(Kind.REJECTED, HandshakeException::kind);
    }

    private void pass(Duration time) {
        client.settle(); // what was begun has its timers
        server.settle();
        clock.advance(time);
        client.settle();
        server.settle();
    }

    private static EndFailure why() {
        return new EndFailure(EndFailure.Scope.CONNECTION, "no path works");
    }

    /** What is lost of a TCP connection. */
    private enum Loss {
        /** Everything, both ways. */
        ALL,
        /** The listener's words once it has proven itself. */
        ANSWER
    }

    /** Passes TCP connections on, of which the first ones lose something; the sockets stay open. */
    private static final class LossyWay implements AutoCloseable {

        /** The challenge and the fillers before it, and all but one byte of the first answer. */
        private static final int GREETING_BYTES = Filler.frames().length
                + HandshakeCodec.encode(0, new Challenge(OpaqueBytes.random(HandshakeProofs.BYTES))).length
                + HandshakeCodec.encode(0, new Alive(0)).length
                - 1;

        private final ServerSocket socket;
        private final InetSocketAddress behind;
        private final List<Loss> losses;
        private final AtomicInteger count = new AtomicInteger();
        private final AtomicLong lost = new AtomicLong();
        private final List<Socket> open = new CopyOnWriteArrayList<>();

        LossyWay(InetSocketAddress behind, Loss... losses) throws IOException {
            this.behind = behind;
            this.losses = List.of(losses);
            socket = new ServerSocket(0, 16, InetAddress.getByName("127.0.0.3"));
            Thread.ofVirtual().start(this::accept);
        }

        InetSocketAddress address() {
            return new InetSocketAddress(socket.getInetAddress(), socket.getLocalPort());
        }

        /** Bytes that it did not pass on. */
        long lost() {
            return lost.get();
        }

        int connections() {
            return count.get();
        }

        private void accept() {
            try {
                while (true) {
                    Socket here = socket.accept();
                    open.add(here);
                    int number = count.getAndIncrement();
                    Loss loss = number < losses.size() ? losses.get(number) : null;
                    if (loss != Loss.ALL) {
                        Socket there = new Socket(behind.getAddress(), behind.getPort());
                        open.add(there);
                        Thread.ofVirtual().start(() -> pass(here, there, Integer.MAX_VALUE));
                        Thread.ofVirtual()
                                .start(() -> pass(there, here, loss == null ? Integer.MAX_VALUE : GREETING_BYTES));
                    }
                }
            } catch (IOException _) {
                // closed
            }
        }

        /** Until so many bytes are passed on; then what comes is lost. */
        private void pass(Socket from, Socket to, int most) {
            byte[] bytes = new byte[4096];
            int passed = 0;
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                    if (passed < most) {
                        out.write(bytes, 0, read);
                        out.flush();
                        passed += read;
                    } else {
                        lost.addAndGet(read);
                    }
                }
                if (passed < most) {
                    to.shutdownOutput();
                }
            } catch (IOException _) {
                // closed
            }
        }

        @Override
        public void close() {
            try {
                socket.close();
                for (Socket each : open) {
                    each.close();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
