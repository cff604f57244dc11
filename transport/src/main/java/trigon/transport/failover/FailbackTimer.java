package trigon.transport.failover;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Has senders that have left their link look for it, again and again, while there are any. Thread-safe. */
final class FailbackTimer {

    /** From one look for a better path to the next. */
    static final Duration WHILE = Duration.ofSeconds(1);

    /** One that may have left its link. */
    interface Sender {

        /** Goes back to its first links, if they are well again. Waits until it is there, or has failed. */
        void failBack();
    }

    private final Executor aWhileLater;
    private final Set<Sender> away = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean looking = new AtomicBoolean();

    /**
     * Nobody is away.
     *
     * @param aWhileLater runs what may block, after the time between two looks
     */
    FailbackTimer(Executor aWhileLater) {
        this.aWhileLater = aWhileLater;
    }

    /** That one has left its link, or is back, or closed. */
    void note(Sender sender, boolean isAway) {
        if (isAway) {
            away.add(sender);
            lookLater();
        } else {
            away.remove(sender);
        }
    }

    private void lookLater() {
        if (looking.compareAndSet(false, true)) {
            try {
                aWhileLater.execute(this::look);
            } catch (RejectedExecutionException _) {
                looking.set(false); // the plugin is closed
            }
        }
    }

    /** One after the other: a cable that is cut sends hundreds of them away, and one knows for all what is silent. */
    private void look() {
        try {
            away.forEach(Sender::failBack);
        } finally {
            looking.set(false);
            if (!away.isEmpty()) {
                lookLater();
            }
        }
    }
}
