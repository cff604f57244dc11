package trigon.transport.failover;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.NanoClock;
import trigon.system.kernel.TcpEnds;
import trigon.system.kernel.UnansweredConnections;

/**
 * Watches over all senders of a process: twice a second it looks whether each has begun messages, and asks this node's
 * kernel about those that have not, once for all of them. Thread-safe.
 */
final class StallWatch {

    /** From one look to the next. */
    static final Duration LOOK = Duration.ofMillis(500);

    private static final Logger log = LoggerFactory.getLogger(StallWatch.class);

    private final Executor lookLater;
    private final Executor blocking;
    private final NanoClock clock;
    private final Set<StalledSender> senders = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean looking = new AtomicBoolean();

    /**
     * Nobody sends.
     *
     * @param lookLater runs what is brief, after the time between two looks
     * @param blocking runs what may block
     */
    StallWatch(Executor lookLater, Executor blocking, NanoClock clock) {
        this.lookLater = lookLater;
        this.blocking = blocking;
        this.clock = clock;
    }

    void add(StalledSender sender) {
        senders.add(sender);
        begin();
    }

    void remove(StalledSender sender) {
        senders.remove(sender);
    }

    private void begin() {
        if (looking.compareAndSet(false, true)) {
            try {
                lookLater.execute(this::look);
            } catch (RejectedExecutionException _) {
                looking.set(false); // the plugin is closed
            }
        }
    }

    private void look() {
        try {
            long now = clock.nanoTime();
            List<StalledSender> due =
                    senders.stream().filter(sender -> sender.advance(now)).toList();
            if (!due.isEmpty()) {
                blocking.execute(() -> check(due));
            }
        } catch (RejectedExecutionException _) {
            // the plugin is closed
        } finally {
            looking.set(false);
            if (!senders.isEmpty()) {
                begin();
            }
        }
    }

    private static void check(List<StalledSender> due) {
        try {
            Set<TcpEnds> unanswered = UnansweredConnections.read(StalledSender.REPETITIONS);
            if (!unanswered.isEmpty()) {
                due.forEach(sender -> sender.check(unanswered));
            }
        } catch (IOException | RuntimeException e) {
            log.debug("the kernel's connections cannot be read: whether messages get through is not known", e);
        }
    }
}
