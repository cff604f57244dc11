package trigon.handshake;

import java.util.concurrent.CompletableFuture;

/**
 * The TCP connection of a finished handshake, kept open for as long as the link is in use. It carries nothing; its end
 * tells that the peer is gone: the kernel closes it when the peer's process dies, however it does. Thread-safe.
 */
public interface Lifeline {

    /** Completes on the event loop when the peer has let go, its process died, or this process closes its handshakes. */
    CompletableFuture<Void> lost();

    /** Lets go: the link is not in use any more. Calling it twice is allowed. */
    void release();
}
