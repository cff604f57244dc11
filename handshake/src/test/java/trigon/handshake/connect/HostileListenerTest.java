package trigon.handshake.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.handshake.HandshakeAssert.failureOf;

import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.handshake.Established;
import trigon.handshake.Node;
import trigon.handshake.OutgoingOffer;
import trigon.handshake.RawPeer;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeMessage;
import trigon.handshake.message.HandshakeMessage.Ready;
import trigon.handshake.message.HandshakeMessage.Reject;
import trigon.testsupport.Await;
import trigon.testsupport.ManualClock;

/** Listeners that are silent, out of turn or not Trigon at all, as raw sockets. */
class HostileListenerTest {

    /** Waited out by some tests. */
    private static final Duration SHORT = Duration.ofMillis(1500);

    private static final int HELLO_BYTES = HandshakeCodec.HEADER_BYTES + 8 + 32 + 32 + 1 + 1;

    private final Node server = new Node("127.0.0.1", Node.LONG);
    private final ManualClock clock = new ManualClock();
    private final Node client = new Node("127.0.0.2", SHORT, clock);
    private final Node patientClient = new Node("127.0.0.2", Node.LONG);
    private final ConnectionId connection = ConnectionId.random();

    @AfterEach
    void close() {
        client.close();
        patientClient.close();
        server.close();
    }

    @Test
    void aSilentListenerTimesOut() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, server.address())) {
            OutgoingOffer outgoing = client.connect(at(silent), client.offer(connection));
            try (Socket accepted = silent.accept()) {
                assertThat(accepted.getInputStream().readNBytes(HELLO_BYTES)).hasSize(HELLO_BYTES);

                pass(SHORT);

                assertThat(failureOf(outgoing.answer()))
                        .returns(Kind.TIMED_OUT, HandshakeException::kind)
                        .hasMessageContaining("127.0.0.1:" + silent.getLocalPort())
                        .hasMessageContaining("the answer to the hello did not come within 1500 ms");
            }
        }
    }

    @Test
    void aTcpConnectionThatNeverComesTimesOut() throws Exception {
        // a full backlog: Linux drops what asks for more, like a path that loses everything
        try (ServerSocket full = new ServerSocket(0, 1, server.address());
                Socket first = new Socket(server.address(), full.getLocalPort());
                Socket second = new Socket(server.address(), full.getLocalPort())) {
            OutgoingOffer outgoing = client.connect(at(full), client.offer(connection));
            pass(SHORT);

            assertThat(failureOf(outgoing.answer()))
                    .returns(Kind.TIMED_OUT, HandshakeException::kind)
                    .hasMessageContaining("the TCP connection did not come within 1500 ms");
            assertThat(first.isConnected() && second.isConnected()).isTrue();
        }
    }

    @Test
    void aListenerThatIsNotTrigonFailsAtOnce() throws Exception {
        assertThat(failureOf(offerTo("SSH-2.0-OpenSSH_9.6\r\n".getBytes(StandardCharsets.US_ASCII))))
                .returns(Kind.PROTOCOL, HandshakeException::kind)
                .hasMessageContaining("does not speak Trigon's handshake");
    }

    @Test
    void aListenerThatHangsUpFailsAtOnce() throws Exception {
        assertThat(failureOf(offerTo(new byte[0])))
                .returns(Kind.DISCONNECTED, HandshakeException::kind)
                .hasMessageContaining("before the answer to the hello came");
    }

    @Test
    void aListenerThatTalksOutOfTurnFails() throws Exception {
        assertThat(failureOf(offerTo(HandshakeCodec.encode(0, new Ready(1)))))
                .returns(Kind.PROTOCOL, HandshakeException::kind)
                .hasMessageContaining("Ready where none is due");
    }

    @Test
    void aListenersReasonIsPrintable() throws Exception {
        byte[] reject = HandshakeCodec.encode(0, new Reject("a b"));
        reject[reject.length - 2] = '\n';

        assertThat(failureOf(offerTo(reject)))
                .returns(Kind.REJECTED, HandshakeException::kind)
                .hasMessageEndingWith("a b");
    }

    @Test
    void aListenerThatNeverConfirmsTimesOut() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, server.address())) {
            OutgoingOffer outgoing = client.connect(at(listener), client.offer(connection));
            try (RawPeer accepted = RawPeer.listening(listener.accept(), connection, Node.secretOf(connection))) {
                accepted.greet();
                accepted.expect(HandshakeMessage.Offer.class);
                accepted.say(server.answer());
                outgoing.answer().get(60, TimeUnit.SECONDS);

                CompletableFuture<Established> result = outgoing.sendReady(1);
                accepted.expect(Ready.class);
                pass(SHORT);

                assertThat(failureOf(result))
                        .returns(Kind.TIMED_OUT, HandshakeException::kind)
                        .hasMessageContaining("the listener's confirmation did not come");
            }
        }
    }

    /** In thirds: after one of them a second TCP connection is made, which has a time of its own. */
    private void pass(Duration time) {
        client.settle();
        for (int third = 0; third < 3; third++) {
            clock.advance(time.dividedBy(3));
            client.settle();
        }
    }

    /** Offers to a listener that says that, and hangs up. */
    private CompletableFuture<?> offerTo(byte[] reply) throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, server.address())) {
            OutgoingOffer outgoing = patientClient.connect(at(listener), patientClient.offer(connection));
            try (Socket accepted = listener.accept()) {
                assertThat(accepted.getInputStream().readNBytes(HELLO_BYTES)).hasSize(HELLO_BYTES);
                RawPeer.send(accepted, reply);
            }
            Await.until("the offer fails", outgoing.answer()::isDone);
            return outgoing.answer();
        }
    }

    private static InetSocketAddress at(ServerSocket socket) {
        return new InetSocketAddress(socket.getInetAddress(), socket.getLocalPort());
    }
}
