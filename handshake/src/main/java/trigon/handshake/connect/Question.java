package trigon.handshake.connect;

import java.util.concurrent.CompletableFuture;

/** A question over one path whether a peer lives. Thread-safe. */
public interface Question {

    /** Done when the peer has proven that it lives; else a HandshakeException. Completes on the event loop, always. */
    CompletableFuture<Void> answered();

    /**
     * True once the TCP connection is made: a kernel answers there, that of the first relay if there is one. If nothing
     * else comes, the process there is stopped, or starves.
     */
    boolean isConnected();
}
