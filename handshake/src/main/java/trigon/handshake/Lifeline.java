package trigon.handshake;

import java.util.concurrent.CompletableFuture;
import trigon.handshake.message.EndFailure;

/**
 * The stream of a finished handshake, kept open for as long as the link is in use; its TCP connection may be that of
 * other links between the two processes, too. Both ends say once a second that they live, with a proof, and nothing
 * else is listened to. It ends when either end lets go, when the peer's
 * process dies (the kernel closes it, however it does), or when nothing was heard for {@code handshake.peerTimeout}: a
 * process that is stopped, a machine that is down, a link that is cut. Thread-safe.
 */
public interface Lifeline {

    /**
     * Returns whether the peer has said that it lives, on the established link. At the listening side: by then it knows
     * that the peer has its confirmation, and will make no other attempt. Any thread; cheap.
     */
    boolean isHeard();

    /** Completes on the event loop at the end, whoever brought it about; never exceptionally. */
    CompletableFuture<LifelineEnd> lost();

    /**
     * Runs something on the event loop whenever nothing was heard for more than a beat, once for each further beat.
     *
     * @param step returns at once
     */
    void whenQuiet(Runnable step);

    /** Returns whether nothing was heard for more than a beat. */
    boolean isQuiet();

    /** Lets go: the link is not in use any more. The peer is told. Calling it twice is allowed. */
    void release();

    /**
     * Lets go: this end of the link is unusable, and so the peer's is. Does not block. Without effect after the end.
     *
     * @param failure what went wrong
     */
    void fail(EndFailure failure);
}
