package trigon.handshake.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import trigon.config.HandshakeConfig;
import trigon.handshake.Lifeline;
import trigon.handshake.Node;
import trigon.handshake.lifeline.FuzzedPeer;
import trigon.handshake.message.HandshakeMessage.Challenge;
import trigon.handshake.message.HandshakeMessage.Ready;
import trigon.handshake.message.HandshakeProofs;
import trigon.handshake.message.HandshakeProofs.Side;
import trigon.handshake.message.OpaqueBytes;
import trigon.handshake.message.RandomMessages;
import trigon.stream.dial.Dialer;
import trigon.system.PortRange;
import trigon.verbs.LinkKind;

/**
 * A link that is established on an embedded channel: its peer says only what the test wants, by a clock of its own.
 *
 * @param peer the listening side
 * @param lifeline the connecting side's
 */
public record FuzzedLink(FuzzedPeer peer, Lifeline lifeline) {

    /** One whose peer is lost after that silence. */
    public static FuzzedLink established(Duration peerTimeout) {
        RandomMessages messages = new RandomMessages(new Random(7));
        CompletableFuture<OutgoingConnection> made = new CompletableFuture<>();
        FuzzedPeer peer = new FuzzedPeer(Side.LISTENING, new byte[0], (loop, channel) -> {
            OutgoingConnection outgoing = new OutgoingConnection(
                    new ClientServices(
                            loop,
                            new HandshakeConfig(Node.LONG, PortRange.ANY, peerTimeout, peerTimeout, Optional.empty()),
                            Dialer.DIRECT),
                    Node.LONG,
                    target(),
                    messages.offer(FuzzedPeer.CONNECTION, LinkKind.RDMA),
                    () -> {},
                    false);
            made.complete(outgoing);
            outgoing.dialBy(channel);
        });
        OutgoingConnection outgoing = made.join();
        peer.settle();
        peer.say(new Challenge(OpaqueBytes.random(HandshakeProofs.BYTES)));
        peer.say(messages.answer(LinkKind.RDMA));
        var _ = outgoing.sendReady(1);
        peer.settle();
        peer.say(new Ready(1));
        assertThat(outgoing.result()).isCompleted();
        return new FuzzedLink(peer, outgoing.result().join().lifeline());
    }

    /** The way from the connecting side to the listening one, where nothing checks the size of frames. */
    static Target target() {
        InetAddress local = FuzzedPeer.CONNECTING.getAddress();
        return new Target(
                        local,
                        FuzzedPeer.LISTENING,
                        Dialer.DIRECT.firstHop(local, FuzzedPeer.LISTENING),
                        Node.secretOf(FuzzedPeer.CONNECTION),
                        FuzzedPeer.CONNECTION)
                .inSegmentsOf(1400);
    }
}
