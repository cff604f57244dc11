package trigon.transport.connect;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.routing.Path;
import trigon.transport.path.PathChannel;

/**
 * Warns, once in a process, when a connection through relays carries much: then another order of nodes is worth the
 * suspicion. Thread-safe.
 */
final class RelayedTraffic {

    /** NCCL's own first messages stay far below. */
    static final long MUCH_BYTES = 64L << 20;

    private static final Logger log = LoggerFactory.getLogger(RelayedTraffic.class);

    private record Watched(Path path, PathChannel channel) {}

    private final Set<Watched> watched = ConcurrentHashMap.newKeySet();
    private final Executor nextLook;
    private final Supplier<String> advice;
    private final AtomicBoolean looks = new AtomicBoolean();
    private volatile boolean warned;

    /**
     * Watches nothing yet.
     *
     * @param nextLook runs what does not block, some seconds later
     * @param advice the order of nodes that needs no relay
     */
    RelayedTraffic(Executor nextLook, Supplier<String> advice) {
        this.nextLook = nextLook;
        this.advice = advice;
    }

    /** A path through relays is up. */
    void watch(Path path, PathChannel channel) {
        if (!warned) {
            watched.add(new Watched(path, channel));
            if (looks.compareAndSet(false, true)) {
                nextLook.execute(this::look);
            }
        }
    }

    private void look() {
        watched.removeIf(each -> each.channel.counters().bytes() < 0);
        watched.stream()
                .filter(each -> each.channel.counters().bytes() >= MUCH_BYTES)
                .findFirst()
                .ifPresent(this::warn);
        if (warned) {
            watched.clear();
        } else {
            nextLook.execute(this::look);
        }
    }

    private void warn(Watched much) {
        warned = true;
        log.warn(
                "the connection to {} has carried {} MiB through a relay, whose links carry each byte again: {}",
                much.path,
                much.channel.counters().bytes() >> 20,
                advice.get());
    }
}
