package trigon.handshake.lifeline;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import trigon.handshake.lifeline.Lifelines.BeatingLifeline;

/**
 * Connections from this process to one other over one pair of addresses, which go silent together. The first of them
 * says four times a second that it lives, and has its peer say the same; it speaks for all of them. Event loop only,
 * but for {@link #isQuiet}.
 */
final class HeartbeatGroup {

    /** From one sign of life of the first to the next. */
    static final long NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** So many signs of life in succession have to be missing. */
    private static final int MISSING = 3;

    private final Set<BeatingLifeline> connections = new LinkedHashSet<>();
    private volatile @Nullable BeatingLifeline first;

    void add(BeatingLifeline connection) {
        connections.add(connection);
        choose();
    }

    /** Takes one out; whether it was the last. */
    boolean remove(BeatingLifeline connection) {
        connections.remove(connection);
        choose();
        return connections.isEmpty();
    }

    private void choose() {
        BeatingLifeline known = first;
        if (known == null || !connections.contains(known)) {
            first = connections.isEmpty() ? null : connections.iterator().next();
        }
    }

    /** Returns whether that one is heard and looked at more often than the others. */
    boolean isFirst(BeatingLifeline connection) {
        return connection.equals(first);
    }

    /** The first says that it lives. */
    void beat() {
        BeatingLifeline known = first;
        if (known != null) {
            known.beat();
        }
    }

    /**
     * The first is looked at.
     *
     * @param passedNanos since the last look
     * @param now the moment up to which all that has arrived is read
     */
    void look(long passedNanos, long now) {
        BeatingLifeline known = first;
        if (known == null) {
            return;
        }
        known.look(passedNanos, now);
        if (isQuiet()) {
            for (BeatingLifeline each : connections.toArray(new BeatingLifeline[0])) {
                if (!each.equals(known)) { // who has looked itself
                    each.silence().tellIfQuiet();
                }
            }
        }
    }

    /**
     * Returns whether the first has heard nothing for a while, though its peer says often that it lives. Any thread.
     */
    boolean isQuiet() {
        BeatingLifeline known = first;
        return known != null && known.silence().hasMissed(MISSING, NANOS);
    }
}
