package trigon.software.requester;

import java.nio.ByteBuffer;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.connection.Peer;
import trigon.software.wire.Preamble;
import trigon.software.wire.PreambleExchange;
import trigon.software.wire.WireFormat;
import trigon.stream.Conversation;
import trigon.verbs.Gid;

/**
 * The preamble of a data connection: hears the greeting of the peer's device, says and proves whose the connection is,
 * and waits until the peer has taken it and proven the same. Nothing is sent before that.
 */
final class PreambleConversation implements Conversation {

    private static final Logger log = LoggerFactory.getLogger(PreambleConversation.class);

    private final RequestingQueuePair queuePair;
    private final int firstPsn;
    private final boolean upgrades;
    private final PreambleExchange exchange = new PreambleExchange();
    private ByteBuffer expected = exchange.greetingSpace();
    private boolean greeted;

    /**
     * A conversation that begins.
     *
     * @param firstPsn PSN of the requester's first request
     * @param upgrades whether the hops of the connection are upgraded behind it
     */
    PreambleConversation(RequestingQueuePair queuePair, int firstPsn, boolean upgrades) {
        this.queuePair = queuePair;
        this.firstPsn = firstPsn;
        this.upgrades = upgrades;
    }

    @Override
    public ByteBuffer expected() {
        return expected;
    }

    @Override
    public Step next() {
        if (greeted) {
            boolean taken = exchange.isAccepted(
                    expected.array(), queuePair.proofs(), queuePair.peer().gid());
            return taken ? new Step.Open() : refused("its key is wrong, so it is not the peer");
        }
        greeted = true;
        Optional<String> refusal = exchange.refusal();
        return refusal.isPresent() ? refused(refusal.get()) : answer();
    }

    private Step answer() {
        Peer peer = queuePair.peer();
        Preamble.Hello hello = new Preamble.Hello(
                peer.number(),
                queuePair.number(),
                firstPsn,
                Gid.of(queuePair.device().address()),
                upgrades);
        ByteBuffer answer = exchange.answer(hello, queuePair.proofs(), peer.gid());
        byte[] bytes = new byte[answer.remaining()];
        answer.get(bytes);
        expected = ByteBuffer.allocate(WireFormat.ACCEPTANCE_BYTES);
        return new Step.Send(bytes);
    }

    private Step refused(String reason) {
        log.warn(
                "{} cannot send to {}: {}",
                queuePair.device().name(),
                queuePair.peer().address(),
                reason);
        return new Step.Refused(reason);
    }
}
