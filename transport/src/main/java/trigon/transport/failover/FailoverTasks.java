package trigon.transport.failover;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import trigon.system.NanoClock;

/**
 * The threads on which the work of failovers is done: what is brief on an event loop, which has its thread, and what
 * may block on threads of their own, of which there are few however many connections a cable takes with it: nothing
 * that they do waits for a peer. Those have to be made, and cannot be where a limit on processes is reached.
 * Thread-safe.
 */
final class FailoverTasks {

    /** So long tasks wait before it is seen whether any gets done. */
    private static final Duration PATIENCE = Duration.ofMillis(500);

    private final Executor eventLoop;
    private final Executor moving;
    private final BooleanSupplier relief;
    private final Function<Duration, Executor> later;
    private final NanoClock clock;
    private final AtomicBoolean watched = new AtomicBoolean();
    private final OffersUnderWay offers;

    /**
     * By these.
     *
     * @param eventLoop runs what is brief; makes no thread for it
     * @param moving runs what may block, and does not wait for the peer
     * @param relief adds a thread to these if nothing gets done; false if nothing waits
     * @param later runs on the event loop what is brief, so much later
     * @param clock what all that waits goes by
     */
    FailoverTasks(
            Executor eventLoop,
            Executor moving,
            BooleanSupplier relief,
            Function<Duration, Executor> later,
            NanoClock clock) {
        this.eventLoop = eventLoop;
        this.moving = moving;
        this.relief = relief;
        this.later = later;
        this.clock = clock;
        offers = new OffersUnderWay(this::move);
    }

    /**
     * Has the event loop do something brief, for the data path: no thread is made, and nothing is thrown.
     *
     * @return false if it will not be done
     */
    boolean fromDataPath(Runnable brief) {
        try {
            eventLoop.execute(brief);
            return true;
        } catch (RuntimeException | Error _) { // the plugin is closed, or there is no memory: the session says so
            return false;
        }
    }

    /**
     * Has a thread do something that may block. Not from the data path.
     *
     * @param impossible hears why it will not be done
     */
    void begin(Runnable step, Consumer<Throwable> impossible) {
        try {
            move(step);
        } catch (RuntimeException | Error e) {
            impossible.accept(e);
        }
    }

    /** The same so much later. */
    void beginLater(Duration delay, Runnable step, Consumer<Throwable> impossible) {
        try {
            later.apply(delay).execute(() -> begin(step, impossible));
        } catch (RuntimeException | Error e) {
            impossible.accept(e);
        }
    }

    /** Completes so much later, on the event loop. */
    CompletableFuture<Void> after(Duration delay) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        later.apply(delay).execute(() -> over.complete(null));
        return over;
    }

    /** {@link OffersUnderWay#begin}. */
    <T> CompletableFuture<T> whenRoom(boolean isAwaited, Supplier<CompletableFuture<T>> offer) {
        return offers.begin(isAwaited, offer);
    }

    /** The clock of all that waits. */
    NanoClock clock() {
        return clock;
    }

    /** Runs what may block; none of it waits for the peer, or two nodes could wait for each other. */
    Executor moving() {
        return this::move;
    }

    private void move(Runnable step) {
        moving.execute(step);
        if (watched.compareAndSet(false, true)) {
            watch();
        }
    }

    /** Looks from time to time, as long as steps wait. */
    private void watch() {
        try {
            later.apply(PATIENCE).execute(() -> {
                watched.set(false); // a step that comes from here on begins a watch of its own
                if (relief.getAsBoolean() && watched.compareAndSet(false, true)) {
                    watch();
                }
            });
        } catch (RejectedExecutionException _) {
            watched.set(false); // the plugin is closed, which waits for the steps
        }
    }
}
