package trigon.handshake.lifeline;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import trigon.handshake.message.EndFailure;

/**
 * The part of a connection that {@link Lifelines} needs: it says that this side lives, and knows when the peer last
 * did.
 */
interface BeatingLifeline {

    /** Says that this side lives. Event loop only. */
    void beat();

    /**
     * Looks whether the other side lived up to a moment, once all is read that had arrived by then. Event loop only.
     *
     * @param passedNanos since the last look
     * @param now the moment
     */
    void look(long passedNanos, long now);

    /** The last sign of life of the peer. */
    SilenceClock silence();

    /** The process that it has dialled, and from where; null if it was dialled: then the other end sets the pace. */
    @Nullable
    Object dialled();

    /** The peer's address, without its port; empty before there is a connection. */
    String peerAddress();

    /** Ends the connection with a farewell. Event loop only. */
    void letGo(Optional<EndFailure> failure);
}
