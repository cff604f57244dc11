package trigon.handshake.connect;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import trigon.handshake.Node;
import trigon.handshake.lifeline.FuzzedPeer;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Challenge;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.handshake.message.HandshakeMessage.Ready;
import trigon.handshake.message.HandshakeMessage.Reject;
import trigon.handshake.message.HandshakeProofs;
import trigon.handshake.message.HandshakeProofs.Side;
import trigon.handshake.message.OpaqueBytes;
import trigon.handshake.message.RandomMessages;
import trigon.stream.dial.Dialer;
import trigon.system.PortRange;
import trigon.verbs.LinkKind;

/**
 * The connecting side against any listener: only one that has proven itself is told the offer, only a proven answer is
 * believed, and it always ends.
 */
@Tag("fuzz")
public class OutgoingConnectionFuzzTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final RandomMessages MESSAGES = new RandomMessages(new Random(7));
    private static final Offer OFFER = MESSAGES.offer(FuzzedPeer.CONNECTION, LinkKind.RDMA);
    private static final Answer ANSWER = MESSAGES.answer(LinkKind.RDMA);
    private static final Challenge CHALLENGE = new Challenge(OpaqueBytes.of(new byte[HandshakeProofs.BYTES]));

    @FuzzTest
    void onlyAListenerThatKnowsTheSecretIsBelieved(byte[] script) {
        var _ = establishes(script);
    }

    /** Plays the script, and checks all the way; whether a link came of it. */
    public static boolean establishes(byte[] script) {
        OutgoingConnection[] made = new OutgoingConnection[1];
        FuzzedPeer peer = new FuzzedPeer(Side.LISTENING, script, (loop, channel) -> {
            made[0] = new OutgoingConnection(
                    new ClientServices(loop, Node.config(TIMEOUT, PortRange.ANY), Dialer.DIRECT),
                    TIMEOUT,
                    FuzzedLink.target(),
                    OFFER,
                    () -> {},
                    false);
            made[0].startDeadline();
            made[0].dialBy(channel);
        });
        OutgoingConnection connection = made[0];
        peer.settle();
        boolean challenged = false;
        boolean answered = false;
        boolean ready = false;
        while (peer.hasNext() && peer.isOpen()) {
            switch (peer.next() % 12) {
                case 0 -> {
                    challenged = true;
                    peer.say(CHALLENGE);
                }
                case 1 -> {
                    answered = true;
                    peer.say(ANSWER);
                }
                case 2 -> {
                    ready = true;
                    peer.say(new Ready(1));
                }
                case 3 -> peer.sayChanged(CHALLENGE);
                case 4 -> peer.sayChanged(ANSWER);
                case 5 -> peer.sayWithAnotherSecret(peer.next() % 2 == 0 ? CHALLENGE : ANSWER);
                case 6 -> peer.say(OFFER);
                case 7 -> peer.sayAnything();
                case 8 -> beReady(connection);
                case 9 -> peer.pass(peer.next() * 20L);
                case 10 -> connection.abandon("it takes too long");
                default -> peer.hangUp();
            }
            peer.settle();
            if (peer.heard().contains(OFFER)) {
                assertThat(challenged).isTrue();
            }
            if (connection.answer().isDone() && !connection.answer().isCompletedExceptionally()) {
                assertThat(challenged && answered).isTrue();
                assertThat(connection.answer().join()).isEqualTo(ANSWER);
            }
            if (connection.result().isDone() && !connection.result().isCompletedExceptionally()) {
                assertThat(challenged && answered && ready).isTrue();
            }
        }
        peer.pass(TIMEOUT.toMillis() + 1);
        assertThat(connection.result()).isDone();
        assertThat(connection.answer()).isDone();
        if (connection.result().isCompletedExceptionally()) {
            assertThat(peer.isOpen()).isFalse();
        }
        assertThat(peer.heard().stream().filter(Reject.class::isInstance).count())
                .isLessThanOrEqualTo(1);
        peer.hangUp();
        if (!connection.result().isCompletedExceptionally()) {
            assertThat(connection.result().join().lifeline().lost()).isDone();
        }
        peer.end();
        return !connection.result().isCompletedExceptionally();
    }

    private static void beReady(OutgoingConnection connection) {
        if (connection.answer().isDone() && !connection.answer().isCompletedExceptionally()) {
            var _ = connection.sendReady(1);
        }
    }
}
