package trigon.report.read;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import trigon.system.file.Folder;
import trigon.system.file.ProcessUsers;
import trigon.trace.Fields;
import trigon.trace.Recorder;
import trigon.trace.Ring;
import trigon.trace.TraceFile;

/**
 * Finds the traces in folders, reads them, and first adds what processes left in memory that were killed on this
 * machine.
 */
public final class TraceFolder {

    private final List<TraceContents> processes = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();

    private TraceFolder() {}

    /** Reads all traces in these folders, or these files. */
    public static TraceFolder read(List<Path> paths) {
        TraceFolder folder = new TraceFolder();
        for (Path path : paths) {
            folder.add(path);
        }
        return folder;
    }

    private void add(Path path) {
        if (!Files.exists(path)) {
            problems.add(path + " does not exist");
        } else if (!Files.isDirectory(path)) {
            addFile(path);
        } else {
            try {
                List<Path> traces = Folder.entries(path).stream()
                        .filter(file -> file.toString().endsWith(TraceFile.SUFFIX))
                        .toList();
                if (traces.isEmpty()) {
                    problems.add(path + " has no files that end with " + TraceFile.SUFFIX
                            + ": was the job run with TRIGON_TRACE=" + path + "?");
                }
                traces.forEach(this::addFile);
            } catch (IOException e) {
                problems.add(path + " cannot be read: " + reason(e));
            }
        }
    }

    /** The message of an exception about a file, which is the file's name where permission is denied. */
    static String reason(IOException e) {
        return e instanceof AccessDeniedException ? "permission is denied" : String.valueOf(e.getMessage());
    }

    private void addFile(Path file) {
        List<String> ofFile = new ArrayList<>();
        Optional<TraceFileReader.Content> content = TraceFileReader.read(file, ofFile::add);
        if (content.isPresent() && salvage(file, content.get())) {
            ofFile.clear();
            content = TraceFileReader.read(file, ofFile::add);
        }
        problems.addAll(ofFile);
        content.ifPresent(each -> {
            TraceContents trace = each.trace();
            if (trace.end().asMap().isEmpty()) {
                problems.add(file + " has no end: its process was killed, or is still running");
            }
            long lost =
                    trace.streams().values().stream().mapToLong(Stream::lost).sum();
            if (lost > 0) {
                problems.add(file + " lacks " + lost + (lost == 1 ? " record" : " records")
                        + ", overwritten before being saved;" + " the histograms count all messages");
            }
            processes.add(trace);
        });
    }

    /** A path that a trace names; an empty one if it is none. */
    private static Path path(String name) {
        try {
            return Path.of(name);
        } catch (InvalidPathException _) {
            return Path.of("");
        }
    }

    /** Leaves out other users' files, which may lead root to files of a third user. */
    private static boolean isOwn(Path file) {
        try {
            return Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS)
                    .equals(ProcessUsers.own());
        } catch (IOException _) {
            return false; // gone meanwhile
        }
    }

    /** Adds what an ended process of this user left in its rings; false: there is nothing. */
    private boolean salvage(Path file, TraceFileReader.Content content) {
        Fields process = content.trace().process();
        Path rings = path(process.get("rings"));
        boolean left = content.trace().end().asMap().isEmpty()
                && String.valueOf(rings.getFileName()).startsWith(Recorder.RINGS_PREFIX)
                && Files.isDirectory(rings)
                && isOwn(file)
                && isOwn(rings)
                && ProcessHandle.of(process.number("pid", -1)).isEmpty();
        if (!left) {
            return false;
        }
        try (TraceFile to = TraceFile.append(file, content.wholeBytes())) {
            for (Path each : Folder.entries(rings)) {
                try (Ring ring = Ring.leftBehind(each)) {
                    ring.drainInto(to);
                    to.addHistograms(ring.stream(), ring.histograms());
                }
            }
            Files.delete(rings);
            return true;
        } catch (IOException e) {
            problems.add("what " + file + "'s process left in " + rings + " cannot be collected: " + reason(e));
            return false;
        }
    }

    /** The traces that were read, one a process. */
    public List<TraceContents> processes() {
        return List.copyOf(processes);
    }

    /** Problems of reading, a sentence each. */
    public List<String> problems() {
        return List.copyOf(problems);
    }
}
