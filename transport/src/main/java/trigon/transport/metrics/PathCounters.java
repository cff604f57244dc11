package trigon.transport.metrics;

import trigon.system.Memory;

/**
 * Counters of one path. {@link #message} and {@link #waited} are for the thread that makes the data-path calls of
 * the path's session; the others for any.
 */
public final class PathCounters implements AutoCloseable {

    private final Metrics metrics;
    private final long row;
    private final long link;
    // what the row says; for the thread of the data path
    private long messages;
    private long bytes;
    private long waits;

    private volatile String relays = "";
    private boolean closed;

    PathCounters(Metrics metrics, long row, long link) {
        this.metrics = metrics;
        this.row = row;
        this.link = link;
    }

    /** A message, or a part of one, of that many bytes. */
    public void message(int bytes) {
        messages++;
        this.bytes += bytes;
        Memory.putLongOpaque(row + MetricsRow.MESSAGES, messages);
        Memory.putLongOpaque(row + MetricsRow.MESSAGE_BYTES, this.bytes);
    }

    /** A message has to wait until the receiver says where it may go. */
    public void waited() {
        waits++;
        Memory.putLongOpaque(row + MetricsRow.WAITS, waits);
    }

    /**
     * Address of the counters of messages, bytes and waits, for who counts in C; {@link #message} and {@link #waited}
     * are not called then.
     */
    public long address() {
        return row + MetricsRow.MESSAGES;
    }

    /** Bytes so far, a moment old; -1 once it is closed. Any thread. */
    public synchronized long bytes() {
        return closed ? -1 : Memory.getLongOpaque(row + MetricsRow.MESSAGE_BYTES);
    }

    public void peer(String name) {
        metrics.rename(row, name);
    }

    /** Notes its relays and what carries their hops. */
    public void noteRelays(String by) {
        relays = by;
        metrics.relays(row, by);
    }

    /** The relays; empty without any, and at the receiver, which does not know. Any thread. */
    public String relays() {
        return relays;
    }

    /** The state it is in now, by its code. */
    public void state(int code) {
        Memory.putIntOpaque(row + MetricsRow.STATE, code);
    }

    /** It was lost while it was in use. */
    public void lost() {
        metrics.add(row + MetricsRow.ERRORS);
    }

    /** It is closed; nothing is counted any more. Closing twice is allowed. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            metrics.close(row, link);
        }
    }
}
