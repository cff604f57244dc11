package trigon.transport.connect;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import trigon.handshake.OutgoingOffer;

/**
 * A connection on its way up, at the connecting side. A control thread works on it; NCCL's thread asks whether it is
 * done, takes the result, or abandons it.
 */
public final class PendingConnection {

    private final String peer;
    private final TimeLine timeLine = new TimeLine();
    private final CompletableFuture<ConnectedPaths> result = new CompletableFuture<>();
    private final List<OutgoingOffer> attempts = new ArrayList<>();
    private boolean abandoned;
    private volatile int unaskedLooks;

    PendingConnection(String peer) {
        this.peer = peer;
    }

    /** Returns who is connected to, for messages. */
    public String peer() {
        return peer;
    }

    /** A stage of the work is over; on its thread, as {@link #timeLine}. */
    void reached(String stage) {
        timeLine.reached(stage);
    }

    TimeLine timeLine() {
        return timeLine;
    }

    /** Does the work, on a control thread. */
    void run(Supplier<ConnectedPaths> work) {
        try {
            finish(work.get());
        } catch (Throwable t) {
            // NCCL's thread throws it when it takes the result
            result.completeExceptionally(t);
        }
    }

    private void finish(ConnectedPaths paths) {
        synchronized (this) {
            if (!abandoned) {
                result.complete(paths);
                return;
            }
        }
        paths.close();
    }

    /** A handshake that is under way now, beside those that are not over. */
    synchronized void attempting(OutgoingOffer offer) {
        attempts.removeIf(former -> former.result().isDone());
        attempts.add(offer);
        if (abandoned) {
            offer.abandon("NCCL gave the connection up");
        }
    }

    synchronized boolean isAbandoned() {
        return abandoned;
    }

    /** Tells whether there is a result, which NCCL asks; cheap. */
    public boolean isDone() {
        unaskedLooks = 0;
        return result.isDone();
    }

    /**
     * Returns how often this was called since there is a result and {@link #isDone} was called last; 0 without one. One
     * thread.
     */
    public int unaskedLooks() {
        int looks = result.isDone() ? unaskedLooks + 1 : 0;
        unaskedLooks = looks;
        return looks;
    }

    /** The paths, in the order that both ends know, or the failure as it was thrown. Only when done. */
    public ConnectedPaths take() {
        try {
            return result.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw e;
        }
    }

    /** Has somebody hear of the paths if they are up, or as soon as they are; on the thread that has found that. */
    public void whenUp(Consumer<ConnectedPaths> step) {
        var _ = result.thenAccept(step);
    }

    /** Nobody will take the result: ends the attempt, and closes the connection whenever it comes. */
    public void abandon() {
        synchronized (this) {
            abandoned = true;
            attempts.forEach(attempt -> attempt.abandon("NCCL gave the connection up"));
        }
        if (result.isDone() && !result.isCompletedExceptionally()) {
            result.join().close();
        }
    }
}
