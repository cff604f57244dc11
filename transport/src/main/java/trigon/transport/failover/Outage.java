package trigon.transport.failover;

import java.time.Duration;

/** Since when a connection's paths have been of no use. Thread-safe. */
final class Outage {

    private boolean lasts;
    private long since;
    private long answeredAt;

    /** It begins now, if it has not begun. */
    synchronized void begin() {
        if (!lasts) {
            since = System.nanoTime();
            answeredAt = since;
            lasts = true;
        }
    }

    /** The peer has answered over some path, so the time to give up begins anew. */
    synchronized void noteAnswer() {
        answeredAt = System.nanoTime();
    }

    /** Tells whether it lasts, and the peer has not answered for longer than that. */
    synchronized boolean isUnansweredFor(Duration time) {
        return lasts && System.nanoTime() - answeredAt > time.toNanos();
    }

    /** It is over: a later one has a time of its own. Returns how long it was, in nanoseconds. */
    synchronized long end() {
        long length = lasts ? System.nanoTime() - since : 0;
        lasts = false;
        return length;
    }
}
