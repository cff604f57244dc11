package trigon.report.path;

import org.jspecify.annotations.Nullable;
import trigon.report.model.Connection;

/**
 * A piece of a critical path: nothing else had to be waited for then.
 *
 * @param cause what the time went to
 * @param from begin, on the run's clock
 * @param to end
 * @param rank where, or who was late
 * @param connection whose message; null if it was none
 */
public record Segment(
        Cause cause, long from, long to, int rank, @Nullable Connection connection) {

    /** Length in nanoseconds. */
    public long length() {
        return to - from;
    }

    /** The connection, for causes between ranks; else the rank. */
    public String place() {
        return switch (cause) {
            case TRANSPORT, RELAY, FAILOVER, CREDIT -> connection == null ? "rank " + rank : connection.describe();
            case LATE_CALL, LAUNCH, GPU, PEER_LATE, PROXY, UNKNOWN -> "rank " + rank;
        };
    }
}
