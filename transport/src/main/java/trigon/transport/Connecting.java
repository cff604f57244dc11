package trigon.transport;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import trigon.handshake.OutgoingOffer;

/**
 * A connection on its way up, at the connecting side. A control thread works on it; NCCL's thread asks whether it is
 * done, takes the result, or abandons it.
 */
final class Connecting {

    private final String peer;
    private final CompletableFuture<Connection> result = new CompletableFuture<>();
    private @Nullable OutgoingOffer attempt;
    private boolean abandoned;
    private volatile int unaskedLooks;

    Connecting(String peer) {
        this.peer = peer;
    }

    /** Who is connected to, for messages. */
    String peer() {
        return peer;
    }

    /** Does the work, on a control thread. */
    void run(Supplier<Connection> work) {
        try {
            finish(work.get());
        } catch (Throwable t) {
            // NCCL's thread throws it when it takes the result
            result.completeExceptionally(t);
        }
    }

    private void finish(Connection connection) {
        synchronized (this) {
            if (!abandoned) {
                result.complete(connection);
                return;
            }
        }
        connection.close();
    }

    /** The handshake that is under way now. */
    synchronized void attempting(OutgoingOffer offer) {
        attempt = offer;
        if (abandoned) {
            offer.abandon("NCCL gave the connection up");
        }
    }

    synchronized boolean isAbandoned() {
        return abandoned;
    }

    /** Whether there is a result, which NCCL asks; cheap. */
    boolean isDone() {
        unaskedLooks = 0;
        return result.isDone();
    }

    /** How often this was called since there is a result and {@link #isDone} was called last; 0 without one. One thread. */
    int unaskedLooks() {
        int looks = result.isDone() ? unaskedLooks + 1 : 0;
        unaskedLooks = looks;
        return looks;
    }

    /** The connection, or the failure as it was thrown. Only when done. */
    Connection take() {
        try {
            return result.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw e;
        }
    }

    /** Nobody will take the result: ends the attempt, and closes the connection whenever it comes. */
    void abandon() {
        synchronized (this) {
            abandoned = true;
            if (attempt != null) {
                attempt.abandon("NCCL gave the connection up");
            }
        }
        if (result.isDone() && !result.isCompletedExceptionally()) {
            result.join().close();
        }
    }
}
