package trigon.transport.metrics;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import trigon.system.file.Folder;
import trigon.system.file.OpenFile;
import trigon.system.file.ProcessUsers;
import trigon.transport.metrics.MetricsReader.Snapshot;

/**
 * The counters of one process, kept open: they can be read when the process has ended, and then are what it had counted
 * in the end. What a process hands out as its counters may be anything, and costs no more than counters do. One thread.
 */
public final class HeldMetrics implements AutoCloseable {

    /** A process has a file for each plugin that it has loaded. */
    private static final int MAX_FILES = 64;

    private final Path process;

    /** By what tells one file from another. */
    private final Map<Object, OpenFile> held = new LinkedHashMap<>();

    /** Makes one of that process; nothing is held before it is looked at. */
    public HeldMetrics(long pid) {
        process = Path.of("/proc", Long.toString(pid));
    }

    /**
     * Takes hold of what the process counts by now, besides what is held.
     *
     * @throws UntrustedMetricsException if what it says to be its counters are not
     * @throws IOException if the process is not there any more, or may not be looked into
     */
    public void look() throws IOException {
        for (Path descriptor : Folder.entries(process.resolve("fd"))) {
            if (isOfMetrics(descriptor)) {
                hold(descriptor);
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
        OpenFile file;
        try {
            file = OpenFile.open(descriptor);
        } catch (NoSuchFileException e) {
            return; // closed meanwhile
        } catch (AccessDeniedException e) {
            throw e;
        } catch (IOException e) {
            throw new UntrustedMetricsException(String.valueOf(e.getMessage()), e);
        }
        boolean keeps = false;
        try {
            if (!ProcessUsers.of(process).contains(file.owner())) {
                throw new UntrustedMetricsException("its counter file belongs to user " + file.owner());
            }
            if (held.containsKey(file.key())) {
                return;
            }
            if (held.size() == MAX_FILES) {
                throw new UntrustedMetricsException("it has more than " + MAX_FILES + " files of counters");
            }
            held.put(file.key(), file);
            keeps = true;
        } finally {
            if (!keeps) {
                file.close();
            }
        }
    }

    /**
     * Returns what all that is held has counted; one snapshot for each plugin of the process.
     *
     * @throws UntrustedMetricsException if what is held are no counters, or those of another version
     * @throws IOException if they cannot be read
     */
    public List<Snapshot> read() throws IOException {
        List<Snapshot> snapshots = new ArrayList<>();
        int rows = 0;
        for (OpenFile each : held.values()) {
            Snapshot snapshot = MetricsReader.read(each);
            rows += snapshot.rows();
            if (rows > MetricsRow.MAX_ROWS) {
                throw new UntrustedMetricsException("it has more than " + MetricsRow.MAX_ROWS + " counters");
            }
            snapshots.add(snapshot);
        }
        return snapshots;
    }

    @Override
    public void close() {
        for (OpenFile each : held.values()) {
            try {
                each.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
