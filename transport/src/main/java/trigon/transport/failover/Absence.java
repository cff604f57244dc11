package trigon.transport.failover;

import java.time.Duration;
import trigon.transport.failover.NewPaths.Found;

/**
 * For how long all that answers has said that the peer is gone. A process may be about to begin there, or a listener
 * may be late, so it has to last.
 */
final class Absence {

    /** It lasts. */
    static final Duration LASTS = Duration.ofSeconds(1);

    private long since;

    /** After a look; whether the peer is gone. */
    boolean lasts(Found found) {
        if (!found.alive().isEmpty() || !found.isGone()) {
            since = 0;
        } else if (since == 0) {
            since = System.nanoTime();
        }
        return since != 0 && System.nanoTime() - since > LASTS.toNanos();
    }

    /** Whether the last look has found it gone. */
    boolean isSeen() {
        return since != 0;
    }
}
