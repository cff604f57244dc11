package trigon.transport.protocol;

import java.util.List;
import trigon.transport.path.PathChannel;

/** An end of a session whose messages may go on over another path. While no data-path call is made. */
public sealed interface ResumableProtocol
        permits EagerSender, EagerUncopiedSender, EagerReceiver, RendezvousSender, RendezvousReceiver {

    /** The protocol that both ends speak. */
    MessageProtocol kind();

    /**
     * The end that speaks that protocol and goes on with this one's messages; this one if it speaks it. Its {@link
     * #moveTo} is to follow, and this one is of no use after that.
     *
     * @throws IllegalArgumentException if none can
     */
    ResumableProtocol as(MessageProtocol next, List<PathChannel> paths);

    /** Messages begun so far. */
    long begun();

    /** Sender: messages that the peer is known to have. Receiver: messages received. In their order. */
    long confirmed();

    /** Sender: whether new messages are refused, once one more has asked the peer what it has; until it moves. */
    default void holdBack(boolean on) {}

    /** Sender: messages that NCCL knows to be done. */
    default long finished() {
        return confirmed();
    }

    /** Sender: bytes of the messages that the peer is not known to have. */
    default long unconfirmedBytes() {
        return 0;
    }

    /**
     * Goes on over other paths; those before are fenced.
     *
     * @param received messages that the receiver has; what follows is taken up again by {@link #repeat}
     * @throws trigon.verbs.VerbsException if a device refuses
     */
    void moveTo(List<PathChannel> paths, long received);

    /**
     * Takes up again what {@link #moveTo} has left, as far as it fits.
     *
     * @return how much is left, or {@link Protocol#FAILED}
     */
    int repeat();
}
