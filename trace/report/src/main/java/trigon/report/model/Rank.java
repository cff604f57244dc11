package trigon.report.model;

import trigon.report.read.TraceContents;

/**
 * A process that left a trace.
 *
 * @param number NCCL's rank, from the launcher or the profiler; otherwise the process's position in the list
 * @param host the node's name
 * @param clock the run's clock for its times; processes of one machine share one
 * @param trace what it wrote
 */
public record Rank(int number, String host, int clock, TraceContents trace) {

    /** Without the host, for tables that have a column for it. */
    public String name() {
        return "rank " + number;
    }

    @Override
    public String toString() {
        return "rank " + number + " on " + host;
    }
}
