package trigon.transport.path;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import trigon.system.Errno;
import trigon.verbs.VerbsException;

/**
 * What a device is to end, which may take half a minute where its firmware is busy, and holds up nobody: one call after
 * the other, on a thread that is there as long as there are any. Software devices never hang, so theirs are made in the
 * caller. Thread-safe.
 */
final class SlowCalls implements AutoCloseable {

    /** One that takes longer hangs. */
    private static final Duration USUAL = Duration.ofMillis(500);

    private static final long LOOK_MILLIS = 50;

    private static final long IDLE_MILLIS = 200;

    private final String device;
    private final boolean mayHang;
    private final ThreadPoolExecutor thread;

    /** A call is under way, since then. */
    private volatile boolean busy;

    private volatile long since;

    /**
     * None.
     *
     * @param device its name
     * @param mayHang whether they may hang
     */
    SlowCalls(String device, boolean mayHang) {
        this.device = device;
        this.mayHang = mayHang;
        thread = new ThreadPoolExecutor(
                1,
                1,
                IDLE_MILLIS,
                TimeUnit.MILLISECONDS,
                new LinkedBlockingQueue<>(),
                Thread.ofPlatform()
                        .daemon()
                        .inheritInheritableThreadLocals(false)
                        .name("trigon-nic-" + device)
                        .factory(),
                (late, _) -> late.run());
        thread.allowCoreThreadTimeOut(true);
    }

    /** Makes some calls once all others are over. Completes as they do, with what they throw. */
    CompletableFuture<Void> begin(Runnable calls) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        Runnable step = () -> {
            try {
                calls.run();
                over.complete(null);
            } catch (RuntimeException | Error e) {
                over.completeExceptionally(e);
            }
        };
        if (mayHang) {
            execute(step);
        } else {
            step.run();
        }
        return over;
    }

    private void execute(Runnable step) {
        try {
            thread.execute(() -> {
                since = System.nanoTime();
                busy = true;
                step.run();
                busy = false;
            });
        } catch (OutOfMemoryError _) {
            step.run(); // there is no thread to be had
        }
    }

    /** Makes some calls, and waits until they are over, or {@linkplain #isHanging hang}; false then. */
    boolean finishes(Runnable calls) {
        CompletableFuture<Void> over = isHanging() ? new CompletableFuture<>() : begin(calls);
        while (!over.isDone() && !isHanging()) {
            try {
                var _ = over.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
            } catch (ExecutionException | TimeoutException _) {
                // it has failed, or it is looked again: many may be before it
            } catch (InterruptedException e) {
                throw new IllegalStateException("interrupted while waiting for a device", e);
            }
        }
        return over.isDone();
    }

    /**
     * Makes one, by its name.
     *
     * @throws VerbsException if it hangs
     */
    void require(String name, Runnable call) {
        if (!finishes(call)) {
            throw new VerbsException(name, device, Errno.ETIMEDOUT, "the device's firmware hangs; see dmesg");
        }
    }

    boolean isHanging() {
        return busy && System.nanoTime() - since > USUAL.toNanos();
    }

    /** Waits for all of them; what comes later is done in its caller. */
    @Override
    public void close() {
        thread.close();
    }
}
