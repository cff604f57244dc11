package trigon.transport.metrics;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import trigon.transport.metrics.MetricsReader.Snapshot;

/**
 * The counters of one process, kept mapped: they can be read when the process has ended, and then are what it had
 * counted in the end. One thread.
 */
public final class HeldMetrics implements AutoCloseable {

    private final Path descriptors;
    private final Arena arena = Arena.ofConfined();

    /** By what tells one file from another. */
    private final Map<Object, MemorySegment> held = new LinkedHashMap<>();

    /** Of that process; nothing is held before it is looked at. */
    public HeldMetrics(long pid) {
        descriptors = Path.of("/proc", Long.toString(pid), "fd");
    }

    /**
     * Takes hold of what the process counts by now, besides what is held.
     *
     * @throws IOException if the process is not there any more, or may not be looked into
     */
    public void look() throws IOException {
        try (DirectoryStream<Path> each = Files.newDirectoryStream(descriptors)) {
            for (Path descriptor : each) {
                if (isOfMetrics(descriptor)) {
                    hold(descriptor);
                }
            }
        }
    }

    private static boolean isOfMetrics(Path descriptor) throws IOException {
        try {
            Path name = Files.readSymbolicLink(descriptor).getFileName();
            return name != null && name.toString().startsWith(Metrics.FILE_PREFIX); // the root has no name
        } catch (NoSuchFileException e) {
            return false; // closed meanwhile
        }
    }

    private void hold(Path descriptor) throws IOException {
        Object key = Objects.requireNonNull(
                Files.readAttributes(descriptor, BasicFileAttributes.class).fileKey(), "files have keys on Linux");
        if (!held.containsKey(key)) {
            try (FileChannel channel = FileChannel.open(descriptor, StandardOpenOption.READ)) {
                held.put(key, channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena));
            }
        }
    }

    /**
     * What all that is held has counted; one snapshot for each plugin of the process.
     *
     * @throws IOException if it is of another version
     */
    public List<Snapshot> read() throws IOException {
        List<Snapshot> snapshots = new ArrayList<>();
        for (MemorySegment each : held.values()) {
            snapshots.add(MetricsReader.read(each));
        }
        return snapshots;
    }

    @Override
    public void close() {
        arena.close();
    }
}
