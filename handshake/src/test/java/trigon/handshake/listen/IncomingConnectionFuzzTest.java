package trigon.handshake.listen;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import trigon.config.HandshakeConfig;
import trigon.handshake.IncomingOffer;
import trigon.handshake.Node;
import trigon.handshake.lifeline.FuzzedPeer;
import trigon.handshake.lifeline.PeerChannel;
import trigon.handshake.message.Decider;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Hello;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.handshake.message.HandshakeMessage.Ready;
import trigon.handshake.message.HandshakeProofs;
import trigon.handshake.message.HandshakeProofs.Side;
import trigon.handshake.message.NodeIdentity;
import trigon.handshake.message.OpaqueBytes;
import trigon.handshake.message.RandomMessages;
import trigon.system.NanoClock;
import trigon.system.PortRange;
import trigon.verbs.LinkKind;

/**
 * The listening side against any peer: only a proven offer reaches the handler, only a proven readiness makes a link,
 * and it always ends.
 */
@Tag("fuzz")
public class IncomingConnectionFuzzTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final NodeIdentity SELF =
            new NodeIdentity("a", OptionalInt.empty(), 0, new Decider(1, false, 0), 1, true);
    private static final RandomMessages MESSAGES = new RandomMessages(new Random(7));
    private static final Offer OFFER = MESSAGES.offer(FuzzedPeer.CONNECTION, LinkKind.RDMA);
    private static final Answer ANSWER = MESSAGES.answer(LinkKind.RDMA);

    private record Asked(IncomingOffer incoming, CompletableFuture<Answer> answer) {}

    @FuzzTest
    void onlyAPeerThatKnowsTheSecretIsHeard(byte[] script) {
        var _ = establishes(script);
    }

    /** Plays the script, and checks all the way; whether a link came of it. */
    public static boolean establishes(byte[] script) {
        IncomingConnections connections = new IncomingConnections(SELF, Optional.empty(), NanoClock.SYSTEM);
        List<Asked> asked = new ArrayList<>();
        connections.register(FuzzedPeer.CONNECTION, new Registration(Node.secretOf(FuzzedPeer.CONNECTION), incoming -> {
            Asked question = new Asked(incoming, new CompletableFuture<>());
            asked.add(question);
            return question.answer();
        }));
        IncomingConnection[] made = new IncomingConnection[1];
        FuzzedPeer peer = new FuzzedPeer(Side.CONNECTING, script, (loop, channel) -> {
            HandshakeConfig config = Node.config(TIMEOUT, PortRange.ANY);
            PeerChannel.accept(loop, config, channel, () -> {
                IncomingConnection accepted =
                        new IncomingConnection(loop, config, connections, FuzzedPeer.LISTENING, FuzzedPeer.CONNECTING);
                made[0] = made[0] == null ? accepted : made[0];
                return accepted;
            });
        });
        IncomingConnection connection = made[0];
        boolean offered = false;
        boolean ready = false;
        while (peer.hasNext() && peer.isOpen()) {
            switch (peer.next() % 12) {
                case 0 -> peer.say(hello());
                case 1 -> {
                    offered = true;
                    peer.say(OFFER);
                }
                case 2 -> {
                    ready = true;
                    peer.say(new Ready(1));
                }
                case 3 -> peer.sayChanged(hello());
                case 4 -> peer.sayChanged(OFFER);
                case 5 -> peer.sayWithAnotherSecret(peer.next() % 2 == 0 ? OFFER : new Ready(1));
                case 6 -> peer.say(ANSWER);
                case 7 -> peer.sayAnything();
                case 8 -> answer(asked, peer.next());
                case 9 -> peer.pass(peer.next() * 20L);
                case 10 -> connections.unregister(FuzzedPeer.CONNECTION);
                default -> peer.hangUp();
            }
            peer.settle();
            assertThat(asked).hasSizeLessThanOrEqualTo(offered ? 1 : 0);
            assertThat(asked)
                    .allSatisfy(
                            question -> assertThat(question.incoming().offer()).isEqualTo(OFFER));
            if (connection.result().isDone() && !connection.result().isCompletedExceptionally()) {
                assertThat(offered && ready && asked.size() == 1).isTrue();
                assertThat(connection.result().join().offer()).isEqualTo(OFFER);
            }
        }
        // whatever came, it is over at the deadline; a link that came of it ends with its peer
        peer.pass(TIMEOUT.toMillis() + 1);
        assertThat(connection.result()).isDone();
        if (connection.result().isCompletedExceptionally()) {
            // a peer that is proven may have opened another stream; behind its last one it has as long again for one
            peer.pass(TIMEOUT.toMillis() + 1);
            assertThat(peer.isOpen()).isFalse();
        }
        assertThat(peer.rejections()).allMatch(times -> times == 1);
        peer.hangUp();
        if (!connection.result().isCompletedExceptionally()) {
            assertThat(connection.result().join().lifeline().lost()).isDone();
        }
        assertThat(connections.unauthenticated()).isZero();
        peer.end();
        return !connection.result().isCompletedExceptionally();
    }

    private static Hello hello() {
        OpaqueBytes nonce = OpaqueBytes.of(new byte[HandshakeProofs.BYTES]); // the same each time, so that it repeats
        return new Hello(
                FuzzedPeer.CONNECTION,
                nonce,
                HandshakeProofs.clusterMark(Optional.empty(), FuzzedPeer.CONNECTION, nonce),
                false,
                false);
    }

    private static void answer(List<Asked> asked, int how) {
        for (Asked question : asked) {
            if (how % 4 == 0) {
                question.answer().completeExceptionally(new IllegalStateException("no queue pair left"));
            } else if (how % 4 == 1) {
                question.answer().complete(MESSAGES.answer(LinkKind.SOFTWARE));
            } else {
                question.answer().complete(ANSWER);
            }
        }
    }
}
