package trigon.handshake.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.handshake.Node;
import trigon.handshake.RawPeer;
import trigon.handshake.lifeline.HandshakeEventLoop;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.HandshakeException;
import trigon.stream.circuit.CircuitRoutes;
import trigon.stream.dial.Dialer;
import trigon.system.PortRange;
import trigon.testsupport.Await;

/** A listener that answers what comes in small segments, as one behind a switch of another MTU does. */
class FrameChecksTest {

    private static final ConnectionId CONNECTION = new ConnectionId(7);

    private final HandshakeEventLoop loop = HandshakeEventLoop.open();
    private final HandshakeClient client =
            new HandshakeClient(loop, Node.config(Node.LONG, PortRange.ANY), Dialer.over(CircuitRoutes.NONE));

    @AfterEach
    void close() {
        loop.close();
    }

    @Test
    void aQuestionThatIsAnsweredInSmallSegmentsAloneSaysThatTheFullSizeIsLost() throws Exception {
        InetAddress here = InetAddress.ofLiteral("127.0.0.1");
        try (ServerSocket listener = new ServerSocket(0, 10, here)) {
            InetSocketAddress there = new InetSocketAddress(here, listener.getLocalPort());
            Question question = client.ask(here, there, Node.secretOf(CONNECTION), CONNECTION);
            AtomicBoolean all = new AtomicBoolean();
            var _ = Thread.startVirtualThread(() -> answerSmallSegments(listener, all));
            Await.until("the question's end", () -> question.answered().isDone());
            assertThat(question.answered().exceptionNow())
                    .isInstanceOfSatisfying(
                            HandshakeException.class,
                            failure -> assertThat(failure.mayPass()).isTrue())
                    .hasMessageContaining("packets of 65536 bytes are lost between 127.0.0.1 and 127.0.0.1")
                    .hasMessageContaining("set one MTU");
            assertThat(client.isNarrow(here, there)).isTrue();
            // the next one is asked in small segments at once, and needs no other
            all.set(true);
            Question next = client.ask(here, there, Node.secretOf(CONNECTION), CONNECTION);
            Await.until("its answer", () -> next.answered().isDone());
            assertThat(next.answered()).isCompleted();
        }
    }

    @Test
    void aHandshakeThatWasUnluckyIsNotTakenForThat() throws Exception {
        InetAddress here = InetAddress.ofLiteral("127.0.0.1");
        try (ServerSocket listener = new ServerSocket(0, 10, here)) {
            InetSocketAddress there = new InetSocketAddress(here, listener.getLocalPort());
            Question question = client.ask(here, there, Node.secretOf(CONNECTION), CONNECTION);
            try (Socket unlucky = listener.accept();
                    RawPeer fullAgain = answer(listener);
                    RawPeer one = answer(listener);
                    RawPeer two = answer(listener);
                    RawPeer late = RawPeer.listening(unlucky, CONNECTION, Node.secretOf(CONNECTION))) {
                // the other three have had their answers for long
                loop.eventLoop().schedule(() -> {}, 2, TimeUnit.SECONDS).sync();
                assertThat(question.answered()).isNotDone();
                late.greet();
                Await.until("the late answer", () -> question.answered().isDone());
                assertThat(question.answered()).isCompleted();
                assertThat(List.of(fullAgain, one, two)).doesNotContainNull();
            }
            assertThat(client.isNarrow(here, there)).isFalse();
        }
    }

    /** A busy node answers in any order. */
    @Test
    void smallSegmentsThatAreLateSaySomethingLater() {
        FrameChecks.Check check = new FrameChecks.Check(100, 1000);
        assertThat(check.nanosLeft(100)).isEqualTo(1000);
        check.pass(1400, 900);
        check.pass(4000, 1000);
        assertThat(check.nanosLeft(1100)).isEqualTo(4 * 800 - 1000);
        assertThat(check.nanosLeft(100 + 4 * 800)).isZero();
        check.passFull();
        assertThat(check.nanosLeft(1100)).isZero();
    }

    @Test
    void aNodeThatStarvesIsAskedAgain() throws Exception {
        InetAddress here = InetAddress.ofLiteral("127.0.0.1");
        try (ServerSocket listener = new ServerSocket(0, 10, here)) {
            InetSocketAddress there = new InetSocketAddress(here, listener.getLocalPort());
            Question question = client.ask(here, there, Node.secretOf(CONNECTION), CONNECTION);
            listener.setSoTimeout(60_000);
            try (Socket full = listener.accept();
                    Socket fullAgain = listener.accept();
                    Socket one = listener.accept();
                    Socket two = listener.accept();
                    Socket askedOnceMore = listener.accept()) {
                assertThat(client.isNarrow(here, there)).isFalse();
                assertThat(question.answered()).isNotDone();
                assertThat(List.of(full, fullAgain, one, two, askedOnceMore)).allMatch(Socket::isConnected);
            }
        }
    }

    /**
     * Answers the small segments until the listener is closed. The first that comes is the question, and then, in each
     * check, the first of three is of the full size.
     *
     * @param all whether the full size is answered, too
     */
    private static void answerSmallSegments(ServerSocket listener, AtomicBoolean all) {
        List<Socket> arrived = new ArrayList<>();
        try {
            for (int number = 0; ; number++) {
                Socket socket = listener.accept();
                arrived.add(socket);
                if (all.get() || (number > 0 && number % 3 != 1)) {
                    greet(socket);
                }
            }
        } catch (IOException _) { // it is closed
            arrived.forEach(FrameChecksTest::close);
        }
    }

    private static void greet(Socket socket) {
        try {
            RawPeer.listening(socket, CONNECTION, Node.secretOf(CONNECTION)).greet();
        } catch (IOException _) { // who asked has gone, and asks again
            close(socket);
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static RawPeer answer(ServerSocket listener) throws IOException {
        RawPeer peer = RawPeer.listening(listener.accept(), CONNECTION, Node.secretOf(CONNECTION));
        peer.greet();
        return peer;
    }
}
