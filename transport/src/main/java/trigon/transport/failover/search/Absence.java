package trigon.transport.failover.search;

import java.time.Duration;

/**
 * For how long all that answers has said that the peer is gone. A process may be about to begin there, or a listener
 * may be late, so it has to last.
 */
public final class Absence {

    /** So long everything that answers has to say so. */
    static final Duration LASTS = Duration.ofSeconds(1);

    private boolean seen;
    private long since;

    /** After a look at that time, in nanoseconds of one clock; whether the peer is gone. */
    public boolean observe(Found found, long now) {
        if (!found.isGone()) {
            seen = false;
        } else if (!seen) {
            seen = true;
            since = now;
        }
        return seen && now - since > LASTS.toNanos();
    }

    /** So long to the next look, which is to come no later than is worth waiting for. */
    public Duration until(Duration otherwise, long now) {
        Duration left = seen ? LASTS.minusNanos(now - since).plusMillis(1) : otherwise;
        return left.compareTo(otherwise) < 0 ? left : otherwise;
    }
}
