package trigon.transport.metrics;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the {@link Metrics} of any process that this one may look into, while it runs. What one look finds is not of
 * one moment: each counter is the one of when it was read.
 */
public final class MetricsReader {

    /**
     * A link of the process, with what its closed paths have counted.
     *
     * @param row which row it has; its paths name it
     * @param name what the process's log calls it
     * @param type what carries its data
     * @param speedMbps as far as it is known
     * @param counts of its closed paths, with failed attempts to bring one up as retries
     */
    public record LinkMetrics(int row, String name, String type, int speedMbps, Counts counts) {}

    /**
     * An open path.
     *
     * @param link the row of its link
     * @param peer who is at the other end
     * @param type which end this is
     * @param state the code of {@link trigon.transport.path.PathState}
     * @param counts of the path
     */
    public record PathMetrics(int link, String peer, String type, int state, Counts counts) {}

    /**
     * What became of a link's connections to a peer when their path failed.
     *
     * @param link the row of its link
     * @param peer who is at the other end
     * @param failovers how often one went on over another path
     * @param returns how often one came back to the link
     * @param pausedNanos how long all of them paused
     * @param longestNanos and the one that paused longest
     * @param messages sent again
     * @param bytes sent again
     */
    public record FailoverMetrics(
            int link,
            String peer,
            long failovers,
            long returns,
            long pausedNanos,
            long longestNanos,
            long messages,
            long bytes) {}

    /** What is counted; see {@link MetricsRow}. */
    public record Counts(long messages, long bytes, long waits, long errors, long retries) {}

    /** What one look found. */
    public record Snapshot(List<LinkMetrics> links, List<PathMetrics> paths, List<FailoverMetrics> failovers) {}

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private MetricsReader() {}

    /**
     * All that a process counts; one snapshot for each plugin in it.
     *
     * @param pid the process's number, here
     * @throws IOException if the process is not there, or may not be looked into
     */
    public static List<Snapshot> of(long pid) throws IOException {
        try (HeldMetrics held = new HeldMetrics(pid)) {
            held.look();
            return held.read();
        }
    }

    /**
     * One look at such memory.
     *
     * @throws IOException if it is none, or of another version
     */
    static Snapshot read(MemorySegment memory) throws IOException {
        if (memory.byteSize() < MetricsRow.HEADER_BYTES || (long) LONG.getAcquire(memory, 0L) != MetricsRow.MAGIC) {
            throw new IOException("these are no counters of this version of Trigon: use the tools of the same version");
        }
        int used = (int) INT.getAcquire(memory, MetricsRow.USED);
        List<LinkMetrics> links = new ArrayList<>();
        List<PathMetrics> paths = new ArrayList<>();
        List<FailoverMetrics> failovers = new ArrayList<>();
        for (int row = 0; row < used; row++) {
            long at = MetricsRow.HEADER_BYTES + (long) row * MetricsRow.BYTES;
            int generation = (int) INT.getAcquire(memory, at + MetricsRow.GENERATION);
            int kind = (int) INT.getAcquire(memory, at + MetricsRow.KIND);
            String name = text(memory, at + MetricsRow.NAME, MetricsRow.NAME_BYTES);
            String type = text(memory, at + MetricsRow.TYPE, MetricsRow.TYPE_BYTES);
            int speedOrLink = (int) INT.getOpaque(memory, at + MetricsRow.SPEED_OR_LINK);
            int state = (int) INT.getOpaque(memory, at + MetricsRow.STATE);
            Counts counts = counts(memory, at);
            long longest = (long) LONG.getOpaque(memory, at + MetricsRow.LONGEST);
            VarHandle.acquireFence();
            if ((int) INT.getOpaque(memory, at + MetricsRow.GENERATION) != generation) {
                row--; // another path has it by now
            } else if (kind == MetricsRow.LINK) {
                links.add(new LinkMetrics(row, name, type, speedOrLink, counts));
            } else if (kind == MetricsRow.PATH) {
                paths.add(new PathMetrics(speedOrLink, name, type, state, counts));
            } else if (kind == MetricsRow.FAILOVERS) {
                failovers.add(new FailoverMetrics(
                        speedOrLink,
                        name,
                        counts.errors(),
                        counts.retries(),
                        counts.waits(),
                        longest,
                        counts.messages(),
                        counts.bytes()));
            }
        }
        return new Snapshot(links, paths, failovers);
    }

    private static Counts counts(MemorySegment memory, long at) {
        return new Counts(
                (long) LONG.getOpaque(memory, at + MetricsRow.MESSAGES),
                (long) LONG.getOpaque(memory, at + MetricsRow.MESSAGE_BYTES),
                (long) LONG.getOpaque(memory, at + MetricsRow.WAITS),
                (long) LONG.getOpaque(memory, at + MetricsRow.ERRORS),
                (long) LONG.getOpaque(memory, at + MetricsRow.RETRIES));
    }

    private static String text(MemorySegment memory, long at, int room) {
        byte[] bytes = new byte[room];
        int length = 0;
        while (length < room && (bytes[length] = memory.get(ValueLayout.JAVA_BYTE, at + length)) != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }
}
