package trigon.report.model;

import trigon.report.read.TraceContents;

/**
 * A traced process.
 *
 * @param number NCCL's rank as the launcher or the profiler says it; else its place among the processes
 * @param host the node's name
 * @param clock which of the run's clocks its times are of: processes of one machine share one
 * @param trace what it wrote
 */
public record Rank(int number, String host, int clock, TraceContents trace) {

    /** For a column of ranks, where the host is in another one. */
    public String name() {
        return "rank " + number;
    }

    @Override
    public String toString() {
        return "rank " + number + " on " + host;
    }
}
