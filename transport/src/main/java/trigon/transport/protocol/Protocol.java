package trigon.transport.protocol;

import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.verbs.WorkCompletions;

/**
 * One end's part in getting messages from isends to irecvs: it posts work requests on a session's paths, and takes
 * account of what they come to. Its messages may go on over another path. It neither polls nor decides what a failure
 * means; that is the session's.
 *
 * <p>For the thread that makes the session's data-path calls. Allocates nothing, but for a {@link #failure}.
 */
public sealed interface Protocol permits SendProtocol, ReceiveProtocol {

    /** From a call to send or receive: no slot, or no room in a send queue; to be tried again after a poll. */
    long NO_ROOM = 0;

    /** From a call to send: the receiver has not said yet where the message may go. */
    long NO_RECEIVE = -1;

    /** From a call to send or receive: there is a {@link #failure}. */
    long FAILED = -2;

    /**
     * Takes account of a work request that succeeded.
     *
     * @param path whose completion it is
     * @param index of the completion
     * @return false if there is a {@link #failure} now
     */
    boolean succeeded(int path, WorkCompletions completions, int index);

    /** Sender: makes the copies that are due, after which their messages are done. For NCCL's thread alone. */
    default void settle() {}

    /** Returns what ended it; null as long as nothing has. */
    @Nullable
    ProtocolFailure failure();

    /** Tells whether the entry library may move the messages that come next, by the session's lane. */
    default boolean isReadyForLibrary() {
        return false;
    }

    /** Gives back what it has registered; after the paths' queue pairs. */
    default void close() {}

    // ---- another path; while no data-path call is made

    /** The protocol that both ends speak. */
    MessageProtocol kind();

    /**
     * The end that speaks that protocol and goes on with this one's messages; this one if it speaks it. Its {@link
     * #moveTo} is to follow, and this one is of no use after that.
     *
     * @param memories the session's registrations, by their handles
     * @throws IllegalArgumentException if none can
     */
    Protocol as(MessageProtocol next, List<PathChannel> paths, LongFunction<@Nullable RegisteredMemory> memories);

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
     * @return how much is left, or {@link #FAILED}
     */
    int repeat();
}
