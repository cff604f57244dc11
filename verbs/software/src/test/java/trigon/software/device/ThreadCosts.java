package trigon.software.device;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a thread has cost so far, as the kernel counts it.
 *
 * @param reads system calls that read from a descriptor, whether there was something or not
 * @param writes those that write
 * @param bytesWritten by these
 * @param sleeps how often it gave its processor away to wait for something
 * @see <a href="https://man7.org/linux/man-pages/man5/proc_pid_io.5.html">proc_pid_io(5)</a>
 */
record ThreadCosts(long reads, long writes, long bytesWritten, long sleeps) {

    private static final Path OWN = Path.of("/proc/thread-self");

    /** Whether this kernel counts. */
    static boolean areKnown() {
        return Files.isReadable(OWN.resolve("io"));
    }

    static ThreadCosts ofThisThread() {
        return of(OWN);
    }

    /** Of all threads of the process whose names begin like that. */
    static ThreadCosts of(String name) {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            return tasks.filter(task -> lines(task.resolve("comm")).getFirst().startsWith(name))
                    .map(ThreadCosts::of)
                    .reduce(new ThreadCosts(0, 0, 0, 0), ThreadCosts::plus);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ThreadCosts of(Path task) {
        List<String> io = lines(task.resolve("io"));
        return new ThreadCosts(
                value(io, "syscr:"),
                value(io, "syscw:"),
                value(io, "wchar:"),
                value(lines(task.resolve("status")), "voluntary_ctxt_switches:"));
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long value(List<String> lines, String key) {
        String line = lines.stream()
                .filter(each -> each.startsWith(key))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no " + key + " in " + lines));
        return Long.parseLong(line.substring(key.length()).strip());
    }

    private ThreadCosts plus(ThreadCosts other) {
        return new ThreadCosts(
                reads + other.reads, writes + other.writes, bytesWritten + other.bytesWritten, sleeps + other.sleeps);
    }

    ThreadCosts minus(ThreadCosts before) {
        return new ThreadCosts(
                reads - before.reads,
                writes - before.writes,
                bytesWritten - before.bytesWritten,
                sleeps - before.sleeps);
    }
}
