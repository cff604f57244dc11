package trigon.handshake;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletionStage;
import trigon.handshake.message.HandshakeMessage.Answer;

/** A listening side's answer to an offer for its connection. */
@FunctionalInterface
public interface OfferHandler {

    /**
     * A peer offers its end. Called on the event loop: returns at once and leaves the work to another thread.
     *
     * <p>Complete the stage with the answer when the own queue pair can receive; complete it exceptionally to reject,
     * with the exception's message as the reason. Whatever was made for this offer is released when {@link
     * IncomingOffer#result} fails, which may be before the answer is complete; an answer that comes too late is
     * dropped. The same connection may be offered again then, over other paths, by a new attempt: the calls of two
     * attempts do not overlap, what the former had under way has failed before. What it had established, of a
     * connection of several queue pairs, is of no use then. Offers of one attempt are made at the same time.
     */
    CompletionStage<Answer> onOffer(IncomingOffer offer);

    /**
     * Returns whether somebody uses the link that came of an offer. Until then a new attempt takes its place: the peer
     * makes one where the confirmation has not reached it. Called on the event loop; quick.
     */
    default boolean isTaken() {
        return true;
    }

    /**
     * The peer, which has proven that it knows the secret, has given up: nobody will offer anything any more. Called on
     * the event loop; quick.
     *
     * @param why in the peer's words
     * @param from where it said so
     */
    default void onResigned(String why, InetSocketAddress from) {
        // whoever waits for a link has a deadline of his own
    }
}
