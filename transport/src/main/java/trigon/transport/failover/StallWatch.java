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

    /** Repetitions by the kernel that make a connection suspect: 0.6 s at least. */
    private static final int REPETITIONS = 2;

    /** One whose messages may not get on. */
    interface Watched {

        /** Takes note of what was sent by now; returns whether the kernel is to be asked whether it arrives. */
        boolean advance(long now);

        /** Checks the paths in use whose data is among what no kernel acknowledges. May block. */
        void check(Set<TcpEnds> unanswered);
    }

    private static final Logger log = LoggerFactory.getLogger(StallWatch.class);

    private final Executor lookLater;
    private final Executor blocking;
    private final NanoClock clock;
    private final Set<Watched> senders = ConcurrentHashMap.newKeySet();
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

    void add(Watched sender) {
        senders.add(sender);
        begin();
    }

    void remove(Watched sender) {
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
            List<Watched> due =
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

    private static void check(List<Watched> due) {
        try {
            Set<TcpEnds> unanswered = UnansweredConnections.read(REPETITIONS);
            if (!unanswered.isEmpty()) {
                due.forEach(sender -> sender.check(unanswered));
            }
        } catch (IOException | RuntimeException e) {
            log.debug("the kernel's connections cannot be read: whether messages get through is not known", e);
        }
    }
}
