package trigon.tools.console;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * While it is open, a signal that ends the process interrupts the thread that has opened it, and waits for its close:
 * what a command has made outside of the process is taken away first.
 */
public final class Termination implements AutoCloseable {

    private static final Duration MAX_TO_CLOSE = Duration.ofSeconds(10);

    private final Thread command = Thread.currentThread();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread hook = new Thread(this::end, "trigon-termination");

    public Termination() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private void end() {
        command.interrupt();
        try {
            var _ = closed.await(MAX_TO_CLOSE.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        closed.countDown();
        try {
            var _ = Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // it runs
        }
    }
}
