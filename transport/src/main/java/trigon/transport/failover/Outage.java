package trigon.transport.failover;

/** Since when a connection's paths have been of no use. Thread-safe. */
final class Outage {

    private boolean lasts;
    private long since;

    /** It begins now, if it has not begun. */
    synchronized void begin() {
        if (!lasts) {
            since = System.nanoTime();
            lasts = true;
        }
    }

    /** It is over: a later one has a time of its own. Returns how long it was, in nanoseconds. */
    synchronized long end() {
        long length = lasts ? System.nanoTime() - since : 0;
        lasts = false;
        return length;
    }
}
