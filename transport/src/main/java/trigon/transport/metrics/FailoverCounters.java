package trigon.transport.metrics;

/**
 * Counters of a link's connections to one peer whose path over it fails. Lives as long as the counters do.
 * Thread-safe.
 */
public final class FailoverCounters {

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
