package trigon.handshake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static trigon.handshake.HandshakeAssert.failureOf;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.config.HandshakeConfig;
import trigon.handshake.connect.HandshakeClient;
import trigon.handshake.listen.HandshakeListeners;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.system.PortRange;
import trigon.verbs.LinkKind;

class HandshakeTest {

    private final Node server = new Node("127.0.0.1", Node.LONG);
    private final Node client = new Node("127.0.0.2", Node.LONG);
    private final ConnectionId connection = ConnectionId.random();

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    @Test
    void exchangesBothEnds() throws Exception {
        Node.Listener listener = server.listen(connection);
        Offer offer = client.offer(connection);
        Answer answer = server.answer();

        OutgoingOffer outgoing = client.connect(server.listeningAt(), offer);
        Node.Attempt attempt = listener.next();
        assertThat(attempt.incoming().offer()).isEqualTo(offer);
        assertThat(attempt.incoming().local()).isEqualTo(server.listeningAt());
        assertThat(attempt.incoming().remote().getAddress()).isEqualTo(client.address());
        assertThat(outgoing.answer()).isNotDone();
        attempt.answer().complete(answer);

        assertThat(outgoing.answer().get(60, TimeUnit.SECONDS)).isEqualTo(answer);
        assertThat(attempt.incoming().result()).isNotDone();
        assertThat(outgoing.result()).isNotDone();
        assertThat(outgoing.sendReady(1)).isSameAs(outgoing.result());

        Established atClient = outgoing.result().get(60, TimeUnit.SECONDS);
        Established atServer = attempt.incoming().result().get(60, TimeUnit.SECONDS);
        assertThat(atServer)
                .isEqualTo(new Established(
                        /* local= */ atClient.remote(),
                        /* remote= */ atClient.local(),
                        offer,
                        answer,
                        1,
                        atServer.lifeline()));
    }

    /** The queue pairs' key is known to both ends, and only good for one handshake. */
    @Test
    void bothEndsGetTheSameKeyAndAFreshOneEachTime() throws Exception {
        Node.Listener listener = server.listen(connection);
        Offer offer = client.offer(connection);
        OutgoingOffer first = client.connect(server.listeningAt(), offer);
        Node.Attempt atServer = listener.next();
        assertThatThrownBy(first::key).isInstanceOf(IllegalStateException.class).hasMessageContaining("no answer yet");
        atServer.answer().complete(server.answer());
        first.answer().get(60, TimeUnit.SECONDS);
        assertThat(first.key()).isEqualTo(atServer.incoming().key());
        first.abandon("once more, with the same secret and the same offer");

        OutgoingOffer second = client.connect(server.listeningAt(), offer);
        Node.Attempt again = listener.next();
        again.answer().complete(server.answer());
        second.answer().get(60, TimeUnit.SECONDS);
        assertThat(second.key()).isEqualTo(again.incoming().key()).isNotEqualTo(first.key());
        assertThat(second.key().toString()).contains("not shown");
        second.abandon("the end");
    }

    @Test
    void theLifelineLivesUntilOneEndLetsGo() throws Exception {
        Node.Listener listener = server.listen(connection);
        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(connection));
        Node.Attempt attempt = listener.next();
        attempt.answer().complete(server.answer());
        outgoing.answer().get(60, TimeUnit.SECONDS);
        Lifeline atClient = outgoing.sendReady(1).get(60, TimeUnit.SECONDS).lifeline();
        Lifeline atServer =
                attempt.incoming().result().get(60, TimeUnit.SECONDS).lifeline();
        assertThat(atClient.lost()).isNotDone();
        assertThat(atServer.lost()).isNotDone();

        atServer.release();
        atServer.release();

        atClient.lost().get(60, TimeUnit.SECONDS);
        atServer.lost().get(60, TimeUnit.SECONDS);
        atClient.release();
    }

    @Test
    void worksOverIpv6() throws Exception {
        try (Node six = new Node("::1", Node.LONG)) {
            Node.Listener listener = six.listen(connection);

            OutgoingOffer outgoing = six.connect(six.listeningAt(), six.offer(connection));
            listener.next().answer().complete(six.answer());
            outgoing.answer().get(60, TimeUnit.SECONDS);

            assertThat(outgoing.sendReady(1).get(60, TimeUnit.SECONDS).local().getAddress())
                    .isEqualTo(six.address());
        }
    }

    @Test
    void readyTwiceIsReadyOnce() throws Exception {
        OutgoingOffer outgoing = answered(server.listen(connection));

        assertThat(outgoing.sendReady(1)).isSameAs(outgoing.sendReady(1));

        assertThat(outgoing.result().get(60, TimeUnit.SECONDS)).isNotNull();
    }

    @Test
    void readyNeedsAnAnswer() throws Exception {
        Node.Listener listener = server.listen(connection);
        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(connection));
        listener.next();

        assertThatThrownBy(() -> outgoing.sendReady(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no answer");
    }

    @Test
    void rejectsAnUnknownConnection() throws Exception {
        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(connection));

        assertThat(failureOf(outgoing.answer()))
                .returns(Kind.REJECTED, HandshakeException::kind)
                .hasMessageContaining(connection.toString())
                .hasMessageContaining("no listener for this connection")
                .hasMessageContaining("127.0.0.2")
                .hasMessageContaining("127.0.0.1:" + server.listeningAt().getPort());
        assertThat(failureOf(outgoing.result())).isSameAs(failureOf(outgoing.answer()));
    }

    @Test
    void rejectsASecondLinkForOneConnection() throws Exception {
        answered(server.listen(connection)).sendReady(1).get(60, TimeUnit.SECONDS);

        OutgoingOffer again = client.connect(server.listeningAt(), client.offer(connection));

        assertThat(failureOf(again.answer())).hasMessageContaining("already established");
    }

    @Test
    void handsTheListenersReasonToThePeer() throws Exception {
        Node.Listener listener = server.listen(connection);
        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(connection));
        Node.Attempt attempt = listener.next();

        attempt.answer().completeExceptionally(new IllegalStateException("no queue pair left on mlx5_0"));

        assertThat(failureOf(outgoing.answer()))
                .returns(Kind.REJECTED, HandshakeException::kind)
                .hasMessageContaining("no queue pair left on mlx5_0");
        assertThat(failureOf(attempt.incoming().result())).hasMessageContaining("no queue pair left on mlx5_0");
    }

    @Test
    void aHandlerThatThrowsRejects() throws Exception {
        server.listeners().register(connection, Node.secretOf(connection), _ -> {
            throw new IllegalStateException("out of order");
        });

        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(connection));

        assertThat(failureOf(outgoing.answer())).hasMessageContaining("out of order");
    }

    @Test
    void bothEndsMustBeOfOneKind() throws Exception {
        Node.Listener listener = server.listen(connection);
        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(connection));
        Node.Attempt attempt = listener.next();
        Answer answer = server.answer();

        attempt.answer()
                .complete(new Answer(
                        answer.node(),
                        LinkKind.SOFTWARE,
                        answer.endpoint(),
                        answer.memory(),
                        answer.maxMessageBytes(),
                        answer.speedMbps(),
                        answer.failover(),
                        answer.received()));

        assertThat(failureOf(attempt.incoming().result()))
                .returns(Kind.PROTOCOL, HandshakeException::kind)
                .hasMessageContaining("offered a link of kind RDMA, answered one of SOFTWARE");
        assertThat(failureOf(outgoing.answer())).hasMessageContaining("offered a link of kind RDMA");
    }

    @Test
    void tellsTheListenerWhyItGivesUp() throws Exception {
        Node.Listener listener = server.listen(connection);
        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(connection));
        Node.Attempt attempt = listener.next();

        outgoing.abandon("address resolution failed");

        assertThat(failureOf(outgoing.answer())).returns(Kind.ABANDONED, HandshakeException::kind);
        assertThat(failureOf(attempt.incoming().result()))
                .returns(Kind.REJECTED, HandshakeException::kind)
                .hasMessageContaining("address resolution failed");
    }

    @Test
    void anotherAttemptFollowsAFailedOne() throws Exception {
        Node.Listener listener = server.listen(connection);
        OutgoingOffer first = client.connect(server.listeningAt(), client.offer(connection));
        listener.next();
        first.abandon("the next path, please");

        assertThat(answered(listener).sendReady(1).get(60, TimeUnit.SECONDS)).isNotNull();
    }

    @Test
    void aNewAttemptEndsAForgottenOne() throws Exception {
        Node.Listener listener = server.listen(connection);
        client.connect(server.listeningAt(), client.offer(connection));
        Node.Attempt forgotten = listener.next();

        OutgoingOffer second = client.connect(server.listeningAt(), client.offer(connection));
        Node.Attempt current = listener.next();

        assertThat(forgotten.incoming().result()).isCompletedExceptionally();
        assertThat(failureOf(forgotten.incoming().result())).hasMessageContaining("another path");
        forgotten.answer().complete(server.answer());
        Answer answer = server.answer();
        current.answer().complete(answer);
        assertThat(second.answer().get(60, TimeUnit.SECONDS)).isEqualTo(answer);
    }

    @Test
    void unregisteringEndsAnAttempt() throws Exception {
        Node.Listener listener = server.listen(connection);
        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(connection));
        Node.Attempt attempt = listener.next();

        server.listeners().unregister(connection);
        server.listeners().unregister(connection);

        assertThat(failureOf(outgoing.answer())).hasMessageContaining("the listener was closed");
        assertThat(failureOf(attempt.incoming().result())).returns(Kind.ABANDONED, HandshakeException::kind);
    }

    @Test
    void aRefusedConnectionFailsAtOnce() throws Exception {
        InetSocketAddress nobody = new InetSocketAddress(server.address(), unusedPort());

        OutgoingOffer outgoing = client.connect(nobody, client.offer(connection));

        assertThat(failureOf(outgoing.answer()))
                .returns(Kind.REFUSED, HandshakeException::kind)
                .hasMessageContaining("127.0.0.2")
                .hasMessageContaining("127.0.0.1:" + nobody.getPort())
                .hasMessageContaining("refused");
    }

    @Test
    void anAddressThatIsNotOursFailsAtOnce() throws Exception {
        HandshakeClient elsewhere =
                new HandshakeClient(client.loop(), Node.config(Duration.ofSeconds(20), PortRange.ANY));

        OutgoingOffer outgoing = elsewhere.connect(
                InetAddress.getByName("192.0.2.1"),
                server.listeningAt(),
                Node.secretOf(connection),
                client.offer(connection));

        assertThat(failureOf(outgoing.answer()))
                .returns(Kind.UNREACHABLE, HandshakeException::kind)
                .hasMessageContaining("192.0.2.1")
                .hasMessageContaining("assign requested address");
    }

    /** On addresses that no other test connects from: any port of those may be in use. */
    @Test
    void saysThatThePortIsTaken() {
        try (Node taken = new Node("127.0.0.51", Node.LONG);
                Node free = new Node("127.0.0.52", Node.LONG)) {
            int port = taken.listeningAt().getPort();
            HandshakeConfig config = Node.config(Duration.ofSeconds(1), new PortRange(port, port));

            assertThatThrownBy(() -> HandshakeListeners.open(
                            free.loop(), config, free.identity(), List.of(free.address(), taken.address())))
                    .isInstanceOf(HandshakeException.class)
                    .hasMessageContaining("cannot listen on 127.0.0.51:" + port)
                    .hasMessageContaining("in use")
                    .hasMessageContaining("ports is %d: see that it has a free one for each process".formatted(port));
            // nothing is left open on the address before it
            try (HandshakeListeners again =
                    HandshakeListeners.open(free.loop(), config, free.identity(), List.of(free.address()))) {
                assertThat(again.port(free.address())).isEqualTo(port);
            }
        }
    }

    /** Ranks of a node share the range that a firewall lets through. */
    @Test
    void takesAFreePortOfTheRange() {
        try (Node taken = new Node("127.0.0.53", Node.LONG)) {
            int first = taken.listeningAt().getPort();
            HandshakeConfig config =
                    Node.config(Duration.ofSeconds(1), new PortRange(first, Math.min(first + 9, 65535)));

            try (HandshakeListeners beside =
                    HandshakeListeners.open(taken.loop(), config, taken.identity(), List.of(taken.address()))) {
                assertThat(beside.port(taken.address()))
                        .isBetween(first + 1, config.ports().last());
            }
        }
    }

    @Test
    void aClosedListenersPortIsFreeAtOnce() {
        for (int i = 0; i < 50; i++) {
            int port = client.listeningAt().getPort();
            HandshakeConfig config = Node.config(Duration.ofSeconds(1), new PortRange(port, port));
            client.listeners().close();
            try (HandshakeListeners again =
                    HandshakeListeners.open(server.loop(), config, server.identity(), List.of(client.address()))) {
                assertThat(again.addresses()).containsExactly(client.listeningAt());
            }
        }
    }

    @Test
    void registersAConnectionOnce() {
        server.listen(connection);

        assertThatThrownBy(() -> server.listen(connection)).isInstanceOf(IllegalStateException.class);
        server.listeners().unregister(connection);
        server.listen(connection);
    }

    @Test
    void closedListenersRegisterNothing() {
        server.listeners().close();
        server.listeners().close();

        assertThatThrownBy(() -> server.listen(connection)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void closingFailsWhatIsUnderWayOnBothSides() throws Exception {
        Node.Listener listener = server.listen(connection);
        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(connection));
        Node.Attempt attempt = listener.next();

        server.close();

        assertThat(failureOf(attempt.incoming().result())).returns(Kind.ABANDONED, HandshakeException::kind);
        assertThat(failureOf(outgoing.answer())).hasMessageContaining("the listener was closed");
    }

    @Test
    void closingTheEventLoopFailsTheClients() throws Exception {
        Node.Listener listener = server.listen(connection);
        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(connection));
        Node.Attempt attempt = listener.next();

        client.loop().close();

        assertThat(failureOf(outgoing.answer())).returns(Kind.ABANDONED, HandshakeException::kind);
        assertThat(failureOf(attempt.incoming().result())).returns(Kind.DISCONNECTED, HandshakeException::kind);
        OutgoingOffer late = client.connect(server.listeningAt(), client.offer(connection));
        assertThat(failureOf(late.answer())).returns(Kind.ABANDONED, HandshakeException::kind);
        assertThat(late.result()).isCompletedExceptionally();
    }

    private OutgoingOffer answered(Node.Listener listener) throws Exception {
        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(connection));
        listener.next().answer().complete(server.answer());
        outgoing.answer().get(60, TimeUnit.SECONDS);
        return outgoing;
    }

    private static int unusedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
