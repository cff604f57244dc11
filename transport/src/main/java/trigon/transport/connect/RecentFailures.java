package trigon.transport.connect;

import java.net.InetAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.system.NanoClock;

/**
 * Paths that have lately failed while others to the same peer did not: to wait for each of them again with every
 * connection would cost more than they bring. Thread-safe.
 */
final class RecentFailures {

    /** A path, whichever of the peer's processes it leads to. */
    private record Ends(LocalLink local, InetAddress remote) {

        static Ends of(Path path) {
            return new Ends(path.local(), path.remote().address());
        }
    }

    private final long memoryNanos;
    private final NanoClock clock;
    private final Map<Ends, Long> failedAt = new ConcurrentHashMap<>();

    RecentFailures(Duration memory, NanoClock clock) {
        this.clock = clock;
        memoryNanos = memory.toNanos();
    }

    /** They have failed now. */
    void note(Collection<Path> failed) {
        long now = clock.nanoTime();
        failed.forEach(path -> failedAt.put(Ends.of(path), now));
    }

    boolean has(Path path) {
        Long failed = failedAt.get(Ends.of(path));
        return failed != null && clock.nanoTime() - failed < memoryNanos;
    }
}
