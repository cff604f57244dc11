package trigon.transport.failover;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * The offers of a process that are under way. A cable takes hundreds of connections with it, whose new queue pairs come
 * up beside the former ones: so many at a time bound the memory that both take. The others wait, and no thread with
 * them: those first whose messages NCCL waits for, and each in its order. Thread-safe.
 */
final class OffersUnderWay {

    static final int MAX = 128;

    private final Executor executor;
    private final Queue<Runnable> awaited = new ArrayDeque<>();
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private int underWay;

    /** None; those that have waited are begun by that. */
    OffersUnderWay(Executor executor) {
        this.executor = executor;
    }

    /**
     * Begins one in the caller, or later. Completes as it does.
     *
     * @param isAwaited whether NCCL waits for messages of its connection
     */
    <T> CompletableFuture<T> begin(boolean isAwaited, Supplier<CompletableFuture<T>> offer) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Runnable step = () -> run(offer, result);
        if (take(isAwaited, step)) {
            step.run();
        }
        return result;
    }

    private <T> void run(Supplier<CompletableFuture<T>> offer, CompletableFuture<T> result) {
        CompletableFuture<T> begun;
        try {
            begun = offer.get();
        } catch (RuntimeException | Error e) {
            begun = CompletableFuture.failedFuture(e);
        }
        var _ = begun.whenComplete((value, why) -> {
            if (why == null) {
                result.complete(value);
            } else {
                result.completeExceptionally(why);
            }
            release(); // what follows on it, which closes the former queue pairs, is before the next one
        });
    }

    private synchronized boolean take(boolean isAwaited, Runnable step) {
        boolean room = underWay < MAX;
        if (room) {
            underWay++;
        } else {
            (isAwaited ? awaited : waiting).add(step);
        }
        return room;
    }

    private void release() {
        Runnable next;
        synchronized (this) {
            next = awaited.isEmpty() ? waiting.poll() : awaited.poll();
            underWay -= next == null ? 1 : 0;
        }
        if (next != null) {
            executor.execute(next);
        }
    }
}
