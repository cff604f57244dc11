package trigon.handshake.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
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
import trigon.system.kernel.TcpSegments;
import trigon.testsupport.Await;

/** A listener that answers what comes in small segments, as one behind a switch of another MTU does. */
class FrameChecksTest {

    private static final ConnectionId CONNECTION = new ConnectionId(7);

    private final HandshakeEventLoop loop = HandshakeEventLoop.open();
    private final AtomicBoolean lossy = new AtomicBoolean();
    private final HandshakeClient client = new HandshakeClient(new ClientServices(
            loop,
            Node.config(Node.LONG, 0),
            Dialer.over(CircuitRoutes.NONE),
            _ -> new TcpSegments.Losses(0, lossy.get() ? 1 : 0)));

    @AfterEach
    void close() {
        loop.close();
    }

    @Test
    void aQuestionThatIsAnsweredInSmallSegmentsAloneSaysThatTheFullSizeIsLost() throws Exception {
        InetAddress here = InetAddress.ofLiteral("127.0.0.1");
        lossy.set(true);
        try (ServerSocket listener = new ServerSocket(0, 10, here)) {
            InetSocketAddress there = new InetSocketAddress(here, listener.getLocalPort());
            Question question = client.ask(here, there, Node.secretOf(CONNECTION), CONNECTION);
            try (Socket full = listener.accept();
                    RawPeer one = answer(listener);
                    RawPeer two = answer(listener)) {
                Await.until("the question's end", () -> question.answered().isDone());
                assertThat(question.answered().exceptionNow())
                        .isInstanceOfSatisfying(
                                HandshakeException.class,
                                failure -> assertThat(failure.mayPass()).isTrue())
                        .hasMessageContaining("packets of 65536 bytes are lost between 127.0.0.1 and 127.0.0.1")
                        .hasMessageContaining("set one MTU");
                assertThat(full.isConnected()).isTrue();
                assertThat(one).isNotNull();
                assertThat(two).isNotNull();
            }
            assertThat(client.isNarrow(here, there)).isTrue();
            // the next one is asked in small segments at once, and needs no other
            Question next = client.ask(here, there, Node.secretOf(CONNECTION), CONNECTION);
            try (RawPeer narrow = answer(listener)) {
                Await.until("its answer", () -> next.answered().isDone());
                assertThat(next.answered()).isCompleted();
                assertThat(narrow).isNotNull();
            }
        }
    }

    @Test
    void aListenerThatIsSlowIsNotTakenForThat() throws Exception {
        InetAddress here = InetAddress.ofLiteral("127.0.0.1");
        try (ServerSocket listener = new ServerSocket(0, 10, here)) {
            InetSocketAddress there = new InetSocketAddress(here, listener.getLocalPort());
            Question question = client.ask(here, there, Node.secretOf(CONNECTION), CONNECTION);
            try (Socket full = listener.accept();
                    RawPeer one = answer(listener);
                    RawPeer two = answer(listener);
                    RawPeer late = RawPeer.listening(full, CONNECTION, Node.secretOf(CONNECTION))) {
                // the other two have had their answers for long
                loop.eventLoop().schedule(() -> {}, 1, TimeUnit.SECONDS).sync();
                assertThat(question.answered()).isNotDone();
                late.greet();
                Await.until("the late answer", () -> question.answered().isDone());
                assertThat(question.answered()).isCompleted();
                assertThat(one).isNotNull();
                assertThat(two).isNotNull();
            }
            assertThat(client.isNarrow(here, there)).isFalse();
        }
    }

    private static RawPeer answer(ServerSocket listener) throws IOException {
        RawPeer peer = RawPeer.listening(listener.accept(), CONNECTION, Node.secretOf(CONNECTION));
        peer.greet();
        return peer;
    }
}
