package trigon.handshake.lifeline;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Connections from this process to one other over one pair of addresses, which go silent together. The first of them
 * says four times a second that it lives, and has its peer say the same; it speaks for all of them. Event loop only,
 * but for {@link #isQuiet}.
 */
final class HeartbeatGroup {

    /** From one sign of life of the first to the next. */
    static final long NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** Silent for longer, it is quiet: as long as three signs of life take. */
    private static final long QUIET_NANOS = 3 * NANOS;

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

    /** Whether that one is heard and looked at more often than the others. */
    boolean isFirst(BeatingLifeline connection) {
        return connection.equals(first);
    }

    /** The first says that it lives, and is looked at. */
    void beat(long passedNanos) {
        BeatingLifeline known = first;
        if (known == null) {
            return;
        }
        known.beat(passedNanos);
        if (isQuiet()) {
            for (BeatingLifeline each : connections.toArray(new BeatingLifeline[0])) {
                if (!each.equals(known)) { // who has looked itself
                    each.silence().tellIfQuiet();
                }
            }
        }
    }

    /** Whether the first has heard nothing for a while, though its peer says often that it lives. Any thread. */
    boolean isQuiet() {
        BeatingLifeline known = first;
        return known != null && known.silence().isLongerThan(QUIET_NANOS);
    }
}
