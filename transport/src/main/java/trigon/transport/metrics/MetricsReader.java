package trigon.transport.metrics;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import trigon.system.PrintableText;
import trigon.system.file.OpenFile;

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
     * @param up whether data can go over it, as far as its node's kernel and device say
     * @param counts of its closed paths, with failed attempts to bring one up as retries
     */
    public record LinkMetrics(int row, String name, String type, int speedMbps, boolean up, Counts counts) {}

    /**
     * An open path.
     *
     * @param link the row of its link
     * @param peer who is at the other end
     * @param type which end this is
     * @param relays the relays and what carries their hops, known to the sender only; empty without relays
     * @param state the code of {@link trigon.transport.path.PathState}
     * @param counts of the path
     */
    public record PathMetrics(int link, String peer, String type, String relays, int state, Counts counts) {}

    /**
     * Counts of a link's connections to a peer whose path failed.
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

    /** Counts of a row; see {@link MetricsRow}. */
    public record Counts(long messages, long bytes, long waits, long errors, long retries) {}

    /** Counters at one look. */
    public record Snapshot(List<LinkMetrics> links, List<PathMetrics> paths, List<FailoverMetrics> failovers) {
        int rows() {
            return links.size() + paths.size() + failovers.size();
        }
    }

    private MetricsReader() {}

    /**
     * All that a process counts; one snapshot for each plugin in it.
     *
     * @param pid the process's number, here
     * @throws UntrustedMetricsException if what it says to be its counters are not
     * @throws IOException if the process is not there, or may not be looked into
     */
    public static List<Snapshot> of(long pid) throws IOException {
        try (HeldMetrics held = new HeldMetrics(pid)) {
            held.look();
            return held.read();
        }
    }

    /**
     * One look at such a file. Its rows are read three times: one counts if it was one path's at the first and at the
     * last, and as it was at the one between them. A row that has changed hands meanwhile is left out: its former
     * path's counts are its link's by now, and its next one has just begun.
     *
     * @throws UntrustedMetricsException if it is none, or of another version
     */
    static Snapshot read(OpenFile file) throws IOException {
        int said = rowsSaid(file);
        ByteBuffer before = rows(file, said);
        ByteBuffer rows = rows(file, said);
        ByteBuffer after = rows(file, said);
        int used = Math.min(Math.min(before.limit(), rows.limit()), after.limit()) / MetricsRow.BYTES;
        List<LinkMetrics> links = new ArrayList<>();
        List<PathMetrics> paths = new ArrayList<>();
        List<FailoverMetrics> failovers = new ArrayList<>();
        for (int row = 0; row < used; row++) {
            int at = row * MetricsRow.BYTES;
            int generation = at + (int) MetricsRow.GENERATION;
            if (before.getInt(generation) != after.getInt(generation)) {
                continue;
            }
            String name = text(rows, at + (int) MetricsRow.NAME, MetricsRow.NAME_BYTES);
            String type = text(rows, at + (int) MetricsRow.TYPE, MetricsRow.TYPE_BYTES);
            int speedOrLink = rows.getInt(at + (int) MetricsRow.SPEED_OR_LINK);
            Counts counts = counts(rows, at);
            switch (rows.getInt(at + (int) MetricsRow.KIND)) {
                case MetricsRow.LINK -> {
                    boolean up = rows.getInt(at + (int) MetricsRow.STATE) != MetricsRow.DOWN;
                    links.add(new LinkMetrics(row, name, type, speedOrLink, up, counts));
                }
                case MetricsRow.PATH -> {
                    String relays = text(rows, at + (int) MetricsRow.RELAYS, MetricsRow.RELAYS_BYTES);
                    int state = rows.getInt(at + (int) MetricsRow.STATE);
                    paths.add(new PathMetrics(speedOrLink, name, type, relays, state, counts));
                }
                case MetricsRow.FAILOVERS ->
                    failovers.add(new FailoverMetrics(
                            speedOrLink,
                            name,
                            counts.errors(),
                            counts.retries(),
                            counts.waits(),
                            rows.getLong(at + (int) MetricsRow.LONGEST),
                            counts.messages(),
                            counts.bytes()));
                default -> {} // nobody's
            }
        }
        return new Snapshot(links, paths, failovers);
    }

    private static int rowsSaid(OpenFile file) throws IOException {
        ByteBuffer header = buffer(file.read((int) MetricsRow.HEADER_BYTES));
        if (header.limit() < MetricsRow.HEADER_BYTES || header.getLong(0) != MetricsRow.MAGIC) {
            throw new UntrustedMetricsException(
                    "the counters are from another version of Trigon: use the tools of that version");
        }
        return Math.clamp(header.getInt((int) MetricsRow.USED), 0, MetricsRow.MAX_ROWS);
    }

    /** So many of them, or what the file has. */
    private static ByteBuffer rows(OpenFile file, int count) throws IOException {
        return buffer(file.read(MetricsRow.HEADER_BYTES, count * MetricsRow.BYTES));
    }

    private static ByteBuffer buffer(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
    }

    private static Counts counts(ByteBuffer rows, int at) {
        return new Counts(
                rows.getLong(at + (int) MetricsRow.MESSAGES),
                rows.getLong(at + (int) MetricsRow.MESSAGE_BYTES),
                rows.getLong(at + (int) MetricsRow.WAITS),
                rows.getLong(at + (int) MetricsRow.ERRORS),
                rows.getLong(at + (int) MetricsRow.RETRIES));
    }

    private static String text(ByteBuffer rows, int at, int room) {
        int length = 0;
        while (length < room && rows.get(at + length) != 0) {
            length++;
        }
        byte[] bytes = new byte[length];
        rows.get(at, bytes);
        return PrintableText.of(new String(bytes, StandardCharsets.UTF_8));
    }
}
