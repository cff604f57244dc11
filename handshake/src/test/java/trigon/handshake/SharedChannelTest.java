package trigon.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.handshake.connect.Question;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.ConnectionSecret;
import trigon.handshake.message.EndFailure;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;
import trigon.handshake.message.HandshakeMessage.Alive;
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

/** Connections between two processes over one path have one TCP connection, and nothing else in common. */
@Timeout(180)
class SharedChannelTest {

    private final Node server = new Node("127.0.0.1", Node.LONG);
    private final Node client = new Node("127.0.0.2", Node.LONG);

    /** Both ends of an established link. */
    private record Link(Established atClient, Established atServer) {}

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    @Test
    void connectionsToOneProcessShareATcpConnection() throws Exception {
        List<Link> links = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            links.add(establish());
        }

        assertThat(links.stream().map(link -> link.atServer().remote()).distinct())
                .hasSize(1);
        assertThat(links.stream().map(link -> link.atClient().local()).distinct())
                .hasSize(1);
        assertThat(links.stream().map(link -> link.atClient().answer()).distinct())
                .hasSize(5);
    }

    @Test
    void eachEndsByItselfAndTheLastClosesIt() throws Exception {
        Link first = establish();
        Link second = establish();
        Link third = establish();

        first.atClient().lifeline().release();
        second.atServer().lifeline().fail(new EndFailure(EndFailure.Scope.PATH, "its reason"));

        assertThat(endOf(first.atServer())).isEqualTo(new LifelineEnd.Released());
        assertThat(endOf(second.atClient())).isInstanceOf(LifelineEnd.Failed.class);
        assertThat(third.atClient().lifeline().lost()).isNotDone();
        Link fourth = establish();
        assertThat(fourth.atServer().remote()).isEqualTo(third.atServer().remote());

        third.atServer().lifeline().release();
        fourth.atServer().lifeline().release();
        assertThat(endOf(third.atClient())).isEqualTo(new LifelineEnd.Released());
        assertThat(endOf(fourth.atClient())).isEqualTo(new LifelineEnd.Released());
        Link fifth = establish();
        assertThat(fifth.atServer().remote()).isNotEqualTo(third.atServer().remote());
    }

    @Test
    void allAreLostWithIt() throws Exception {
        Link first = establish();
        Link second = establish();

        client.loop().close();

        assertThat(endOf(first.atClient())).isEqualTo(new LifelineEnd.Here());
        assertThat(endOf(first.atServer())).isEqualTo(new LifelineEnd.Released());
        assertThat(endOf(second.atServer())).isEqualTo(new LifelineEnd.Released());
    }

    @Test
    void oneThatIsRefusedDisturbsNoOther() throws Exception {
        Link first = establish();

        OutgoingOffer unknown = client.connect(server.listeningAt(), client.offer(ConnectionId.random()));
        Await.until("the refusal", () -> unknown.answer().isCompletedExceptionally());
        ConnectionId connection = ConnectionId.random();
        server.listen(connection);
        OutgoingOffer unproven =
                client.connect(server.listeningAt(), Node.secretOf(ConnectionId.random()), client.offer(connection));
        Await.until("the refusal", () -> unproven.answer().isCompletedExceptionally());

        assertThat(first.atClient().lifeline().lost()).isNotDone();
        assertThat(establish().atServer().remote()).isEqualTo(first.atServer().remote());
    }

    /** Which something in between has ended, perhaps: the path is not lost for that. */
    @Test
    void aChannelThatEndsUnheardIsDialledAnew() throws Exception {
        ConnectionId one = ConnectionId.random();
        ConnectionId other = ConnectionId.random();
        try (ServerSocket socket = new ServerSocket(0, 1, server.address())) {
            InetSocketAddress address = new InetSocketAddress(server.address(), socket.getLocalPort());
            client.connect(address, client.offer(one));
            RawPeer first = RawPeer.listening(socket.accept(), one, Node.secretOf(one));
            first.greet();
            first.expect(Offer.class);

            OutgoingOffer second = client.connect(address, client.offer(other));
            assertThat(first.read().stream()).isEqualTo(1);
            first.close();

            try (RawPeer anew = RawPeer.listening(socket.accept(), other, Node.secretOf(other))) {
                anew.greet();
                anew.expect(Offer.class);
                Answer answer = server.answer();
                anew.say(answer);
                assertThat(second.answer().get(60, TimeUnit.SECONDS)).isEqualTo(answer);
            }
        }
    }

    /** Whatever becomes of the new one beside it. */
    @Test
    void aGreetingIsAnsweredOverTheConnectionThatThereIs() throws Exception {
        ConnectionId connection = ConnectionId.random();
        ConnectionSecret secret = Node.secretOf(connection);
        try (ServerSocket socket = new ServerSocket(0, 1, server.address())) {
            InetSocketAddress address = new InetSocketAddress(server.address(), socket.getLocalPort());
            client.connect(address, client.offer(connection));
            try (RawPeer peer = RawPeer.listening(socket.accept(), connection, secret)) {
                peer.greet();
                peer.expect(Offer.class);

                Question question = client.client().greet(client.address(), address, secret, connection);

                HandshakeFrame hello = peer.read();
                assertThat(hello.stream()).isEqualTo(1);
                HandshakeProofs proofs = HandshakeProofs.of(Side.LISTENING, secret, Optional.empty());
                proofs.note(hello.bytes());
                byte[] challenge = HandshakeCodec.encode(1, new Challenge(OpaqueBytes.random(HandshakeProofs.BYTES)));
                proofs.prove(challenge);
                peer.send(challenge);
                question.answered().get(60, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void aStrangerHasOneStreamUntilItHasProvenItself() throws Exception {
        ConnectionId connection = ConnectionId.random();
        server.listen(connection);
        try (RawPeer peer = RawPeer.connectingTo(server.listeningAt(), connection, Node.secretOf(connection))) {
            byte[] hello = peer.helloFrame();
            byte[] second = hello.clone();
            second[HandshakeCodec.HEADER_BYTES - 1] = 1;
            peer.send(hello);
            peer.send(second);

            peer.readToTheEnd();
        }
    }

    @Test
    void whoHasProvenItselfOffersWithoutAHello() throws Exception {
        ConnectionId first = ConnectionId.random();
        ConnectionId second = ConnectionId.random();
        server.listen(first);
        Node.Listener listener = server.listen(second);
        try (RawPeer peer = RawPeer.challengedBy(server, first)) {
            byte[] opening = peer.said();
            peer.say(client.offer(first));
            peer.send(RawPeer.joining(1, client.offer(second), opening, Node.secretOf(second)));

            assertThat(listener.next().incoming().offer().connection()).isEqualTo(second);
        }
    }

    @Test
    void anOfferOfAnotherChannelOrStreamProvesNothing() throws Exception {
        ConnectionId first = ConnectionId.random();
        ConnectionId second = ConnectionId.random();
        server.listen(first);
        server.listen(second);
        byte[] elsewhere;
        try (RawPeer other = RawPeer.challengedBy(server, first)) {
            elsewhere = other.said();
        }
        try (RawPeer peer = RawPeer.challengedBy(server, first)) {
            byte[] opening = peer.said();
            peer.say(client.offer(first));
            byte[] moved = RawPeer.joining(3, client.offer(second), opening, Node.secretOf(second));
            moved[HandshakeCodec.HEADER_BYTES - 1] = 2;
            peer.send(RawPeer.joining(1, client.offer(second), elsewhere, Node.secretOf(second)));
            peer.send(moved);

            for (int stream = 1; stream <= 2; stream++) {
                HandshakeFrame refusal = peer.read();
                while (refusal.message() instanceof Closed) { // of the stream before
                    refusal = peer.read();
                }
                assertThat(refusal.stream()).isEqualTo(stream);
                assertThat(refusal.message()).isInstanceOf(Reject.class);
            }
        }
    }

    @Test
    void aStrangerOffersNothingWithoutAHello() throws Exception {
        ConnectionId connection = ConnectionId.random();
        Node.Listener listener = server.listen(connection);
        try (RawPeer peer = RawPeer.connectingTo(server.listeningAt(), connection, Node.secretOf(connection))) {
            peer.say(client.offer(connection));

            peer.readToTheEnd();
        }
        assertThat(listener.isEmpty()).isTrue();
    }

    @Test
    void aStreamOutOfTurnEndsWhatIsUnderWayAndNoLink() throws Exception {
        ConnectionId connection = ConnectionId.random();
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

            peer.send(HandshakeCodec.encode(1, new Ready(1))); // neither a hello nor an offer
            peer.send(HandshakeCodec.encode(7, new Closed())); // nobody's
            peer.send(HandshakeCodec.encode(-1, new Closed()));
            peer.send(peer.provenAfterwards(new Alive(1)));

            Await.until("a sign of life", lifeline::isHeard);
            assertThat(lifeline.lost()).isNotDone();
            peer.send(HandshakeCodec.encode(0, new Closed()));
            assertThat(lifeline.lost().get(60, TimeUnit.SECONDS)).isInstanceOf(LifelineEnd.Broken.class);
        }
    }

    private Link establish() throws Exception {
        ConnectionId connection = ConnectionId.random();
        Node.Listener listener = server.listen(connection);
        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(connection));
        Node.Attempt attempt = listener.next();
        attempt.answer().complete(server.answer());
        outgoing.answer().get(60, TimeUnit.SECONDS);
        return new Link(
                outgoing.sendReady(1).get(60, TimeUnit.SECONDS),
                attempt.incoming().result().get(60, TimeUnit.SECONDS));
    }

    private static LifelineEnd endOf(Established end) throws Exception {
        return end.lifeline().lost().get(60, TimeUnit.SECONDS);
    }
}
