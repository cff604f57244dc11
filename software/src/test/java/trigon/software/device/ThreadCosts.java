package trigon.software.device;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import trigon.system.file.Folder;

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
        try {
            return read(OWN);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Of all threads of the process whose names begin like that. */
    static ThreadCosts of(String name) {
        try {
            return Folder.entries(Path.of("/proc/self/task")).stream()
                    .flatMap(task -> ofNamed(name, task))
                    .reduce(new ThreadCosts(0, 0, 0, 0), ThreadCosts::plus);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<ThreadCosts> ofNamed(String name, Path task) {
        try {
            return Files.readString(task.resolve("comm")).startsWith(name) ? Stream.of(read(task)) : Stream.empty();
        } catch (IOException _) {
            return Stream.empty(); // it has ended meanwhile, as compilers' threads do
        }
    }

    private static ThreadCosts read(Path task) throws IOException {
        List<String> io = Files.readAllLines(task.resolve("io"));
        return new ThreadCosts(
                value(io, "syscr:"),
                value(io, "syscw:"),
                value(io, "wchar:"),
                value(Files.readAllLines(task.resolve("status")), "voluntary_ctxt_switches:"));
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
