package trigon.transport.protocol;

import org.jspecify.annotations.Nullable;
import trigon.verbs.WorkCompletions;

/**
 * One end's part in getting messages from isends to irecvs: it posts work requests on a session's paths, and takes
 * account of what they come to. It neither polls nor decides what a failure means; that is the session's.
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

    /** What ended it; null as long as nothing has. */
    @Nullable
    ProtocolFailure failure();

    /**
     * The opcode of completions that the entry library may take by itself, see
     * {@link trigon.transport.request.RequestRow#TAKES}; 0 if it may not.
     */
    int takes();

    /** Takes account of the requests that the entry library has finished since. */
    void settle();

    /** Gives back what it has registered; after the paths' queue pairs. */
    default void close() {}
}
