package trigon.transport.metrics;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
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

    /** What is counted; see {@link MetricsRow}. */
    public record Counts(long messages, long bytes, long waits, long errors, long retries) {}

    /** What one look found. */
    public record Snapshot(List<LinkMetrics> links, List<PathMetrics> paths) {}

    private MetricsReader() {}

    /**
     * All that a process counts; one snapshot for each plugin in it.
     *
     * @param pid the process's number, here
     * @throws IOException if the process is not there, or may not be looked into
     */
    public static List<Snapshot> of(long pid) throws IOException {
        List<Snapshot> snapshots = new ArrayList<>();
        Path descriptors = Path.of("/proc", Long.toString(pid), "fd");
        try (DirectoryStream<Path> each = Files.newDirectoryStream(descriptors)) {
            for (Path descriptor : each) {
                if (isOfMetrics(descriptor)) {
                    try (FileChannel channel = FileChannel.open(descriptor, StandardOpenOption.READ)) {
                        snapshots.add(read(channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size())));
                    }
                }
            }
        }
        return snapshots;
    }

    private static boolean isOfMetrics(Path descriptor) throws IOException {
        try {
            return Files.readSymbolicLink(descriptor).getFileName().toString().startsWith(Metrics.FILE_PREFIX);
        } catch (java.nio.file.NoSuchFileException e) {
            return false; // closed meanwhile
        }
    }

    /**
     * One look at such memory.
     *
     * @throws IOException if it is none, or of another version
     */
    static Snapshot read(ByteBuffer memory) throws IOException {
        memory.order(ByteOrder.nativeOrder());
        if (memory.capacity() < MetricsRow.HEADER_BYTES || memory.getLong(0) != MetricsRow.MAGIC) {
            throw new IOException("these are no counters of this version of Trigon: use the tools of the same version");
        }
        int used = memory.getInt((int) MetricsRow.USED);
        List<LinkMetrics> links = new ArrayList<>();
        List<PathMetrics> paths = new ArrayList<>();
        for (int row = 0; row < used; row++) {
            int at = (int) MetricsRow.HEADER_BYTES + row * MetricsRow.BYTES;
            int generation = memory.getInt(at + (int) MetricsRow.GENERATION);
            int kind = memory.getInt(at + (int) MetricsRow.KIND);
            String name = text(memory, at + (int) MetricsRow.NAME, MetricsRow.NAME_BYTES);
            String type = text(memory, at + (int) MetricsRow.TYPE, MetricsRow.TYPE_BYTES);
            int speedOrLink = memory.getInt(at + (int) MetricsRow.SPEED_OR_LINK);
            Counts counts = counts(memory, at);
            if (memory.getInt(at + (int) MetricsRow.GENERATION) != generation) {
                row--; // another path has it by now
            } else if (kind == MetricsRow.LINK) {
                links.add(new LinkMetrics(row, name, type, speedOrLink, counts));
            } else if (kind == MetricsRow.PATH) {
                int state = memory.getInt(at + (int) MetricsRow.STATE);
                paths.add(new PathMetrics(speedOrLink, name, type, state, counts));
            }
        }
        return new Snapshot(links, paths);
    }

    private static Counts counts(ByteBuffer memory, int at) {
        return new Counts(
                memory.getLong(at + (int) MetricsRow.MESSAGES),
                memory.getLong(at + (int) MetricsRow.MESSAGE_BYTES),
                memory.getLong(at + (int) MetricsRow.WAITS),
                memory.getLong(at + (int) MetricsRow.ERRORS),
                memory.getLong(at + (int) MetricsRow.RETRIES));
    }

    private static String text(ByteBuffer memory, int at, int room) {
        byte[] bytes = new byte[room];
        memory.get(at, bytes);
        int length = 0;
        while (length < room && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }
}
