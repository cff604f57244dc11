package trigon.transport.connect;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.connect.HandshakeClient;
import trigon.handshake.message.EndFailure;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.ListenHandle;
import trigon.routing.Path;
import trigon.system.NanoClock;

/**
 * Tells a listener that nobody connects to it any more: else its side waits in accept until somebody gives it up. That
 * is tried for a while, since what kept the connection from coming up may end. Thread-safe.
 */
final class Cancellation {

    /** For how long: as long as a program may take to notice its error and to end. */
    private static final Duration LONGEST = Duration.ofMinutes(1);

    private static final Duration MOMENT = Duration.ofSeconds(1);

    private static final Duration PAUSE = Duration.ofMillis(250);

    private static final Logger log = LoggerFactory.getLogger(Cancellation.class);

    private final HandshakeClient client;
    private final Executor control;
    private final NanoClock clock;

    /**
     * Tells nothing yet.
     *
     * @param control runs what may block
     */
    Cancellation(HandshakeClient client, Executor control, NanoClock clock) {
        this.clock = clock;
        this.client = client;
        this.control = control;
    }

    /**
     * Tells it over the first of the paths that works. Waits a moment for that: the program may end as soon as it knows
     * of its failure.
     */
    void tell(ListenHandle handle, List<Path> paths, String why) {
        EndFailure failure = new EndFailure(EndFailure.Scope.CONNECTION, why);
        List<Path> ways = List.copyOf(paths);
        CountDownLatch told = new CountDownLatch(1);
        control.execute(() -> {
            tellNow(handle, ways, failure);
            told.countDown();
        });
        try {
            var _ = told.await(MOMENT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while the peer is told", e);
        }
    }

    private void tellNow(ListenHandle handle, List<Path> ways, EndFailure failure) {
        long start = clock.nanoTime();
        while (clock.nanoTime() - start < LONGEST.toNanos()) {
            for (Path path : ways) {
                if (tryToTell(handle, path, failure)) {
                    return;
                }
            }
            try {
                Thread.sleep(PAUSE);
            } catch (InterruptedException _) {
                return; // nobody needs it so much
            }
        }
    }

    /** Tells whether the listener knows, or nobody waits there, or this process is at its end. */
    private boolean tryToTell(ListenHandle handle, Path path, EndFailure failure) {
        InetSocketAddress remote =
                new InetSocketAddress(path.remote().address(), path.remote().tcpPort());
        try {
            client.resign(path.local().bindAddress(), remote, handle.secret(), handle.connection(), failure)
                    .join();
            return true;
        } catch (CompletionException e) {
            log.debug("{} is not told that nobody connects: {}", path, e.getMessage());
            return e.getCause() instanceof HandshakeException heard
                    && switch (heard.kind()) {
                        case REJECTED, PROTOCOL, UNAUTHENTICATED, ABANDONED -> true;
                        case UNREACHABLE, REFUSED, NO_CIRCUIT, BLOCKED, TIMED_OUT, DISCONNECTED, LISTEN -> false;
                    };
        }
    }
}
