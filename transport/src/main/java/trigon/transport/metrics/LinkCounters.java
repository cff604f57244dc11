package trigon.transport.metrics;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import trigon.system.Memory;

/** Counts of a link's paths that are closed by now, and the counters of those that are open. Thread-safe. */
public final class LinkCounters {

    private final Metrics metrics;
    private final long row;
    private final Map<String, FailoverCounters> failovers = new ConcurrentHashMap<>();

    LinkCounters(Metrics metrics, long row) {
        this.metrics = metrics;
        this.row = row;
    }

    /**
     * Counters of a new path over the link.
     *
     * @param type which end of the connection it is
     */
    public PathCounters path(String type) {
        return new PathCounters(metrics, metrics.open(MetricsRow.PATH, "", type, metrics.number(row)), row);
    }

    /** Counters of what becomes of its connections to a peer when their path fails; the first call opens a row. */
    public FailoverCounters failovers(String peer) {
        return failovers.computeIfAbsent(
                peer,
                name -> new FailoverCounters(
                        metrics, metrics.open(MetricsRow.FAILOVERS, name, "", metrics.number(row))));
    }

    /** An attempt to bring up a path over the link has failed. */
    public void retried() {
        metrics.add(row + MetricsRow.RETRIES);
    }

    /** Tells whether data can go over the link, as far as this node's kernel and device say. */
    public void setUp(boolean up) {
        metrics.state(row, up ? 0 : MetricsRow.DOWN);
    }

    /** Messages of closed paths. */
    public long messages() {
        return Memory.getLongOpaque(row + MetricsRow.MESSAGES);
    }

    /** Bytes of closed paths. */
    public long bytes() {
        return Memory.getLongOpaque(row + MetricsRow.MESSAGE_BYTES);
    }

    /**
     * Counters of a link's connections to one peer whose path over it fails. Lives as long as the counters do.
     * Thread-safe.
     */
    public static final class FailoverCounters {

        private final Metrics metrics;
        private final long row;

        FailoverCounters(Metrics metrics, long row) {
            this.metrics = metrics;
            this.row = row;
        }

        /**
         * A connection goes on over another path.
         *
         * @param pauseNanos from when the failure was noticed
         * @param messages that are sent again
         * @param bytes of these
         */
        public void failedOver(long pauseNanos, long messages, long bytes) {
            metrics.add(row + MetricsRow.MESSAGES, messages);
            metrics.add(row + MetricsRow.MESSAGE_BYTES, bytes);
            metrics.add(row + MetricsRow.WAITS, pauseNanos);
            metrics.atLeast(row + MetricsRow.LONGEST, pauseNanos);
            metrics.add(row + MetricsRow.ERRORS);
        }

        /** A connection has returned to the link. */
        public void returned() {
            metrics.add(row + MetricsRow.RETRIES);
        }
    }
}
