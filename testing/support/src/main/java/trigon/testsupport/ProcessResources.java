package trigon.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;
import trigon.system.file.Folder;

/**
 * Resources of the kernel and the C library that this process holds, beside those that a {@link
 * trigon.verbs.ResourceLedger} counts: the rest of a leak's hiding places.
 *
 * @param descriptors open file descriptors by what they refer to, as the kernel names it, so that one that was closed
 *     and another that was opened are told apart. Ordinary files are left out: the JVM opens jars when it likes.
 * @param threads Trigon's, by name; several may share one
 * @param nativeBytes memory of arenas and direct buffers, as the JVM's native memory tracking counts it
 * @param residentBytes the process's resident memory: also what C code has allocated, and the Java heap, so it is no
 *     count
 */
public record ProcessResources(Set<String> descriptors, Set<String> threads, long nativeBytes, long residentBytes) {

    private static final Pattern OTHER = Pattern.compile("Other \\(reserved=(\\d+)");
    private static final Pattern RESIDENT = Pattern.compile("VmRSS:\\s*(\\d+) kB");

    /** As of now, after a garbage collection: some native memory is freed by one. */
    public static ProcessResources now() {
        System.gc();
        return new ProcessResources(descriptorsNow(), threadsNow(), nativeBytesNow(), residentBytesNow());
    }

    /**
     * Waits until nothing is open that was not open before: no descriptor, no thread of Trigon's, and no more native
     * memory.
     *
     * @param toleratedBytes of native memory, for what the JVM keeps for each thread of its own accord
     * @throws AssertionError naming what is left if that lasts
     */
    public static void assertNothingMoreThan(ProcessResources before, long toleratedBytes, String where) {
        Set<String> threads = new TreeSet<>();
        Await.until(() -> where + ": left are threads " + threads, Await.DEADLINE, () -> {
            threads.clear();
            threads.addAll(threadsNow());
            threads.removeAll(before.threads);
            return threads.isEmpty();
        });
        assertNoMoreMemoryOrDescriptorsThan(before, toleratedBytes, where);
    }

    /** The same while threads may be idle that end later. */
    public static void assertNoMoreMemoryOrDescriptorsThan(ProcessResources before, long toleratedBytes, String where) {
        Set<String> descriptors = new TreeSet<>();
        Await.until(() -> where + ": left are descriptors " + descriptors, Await.DEADLINE, () -> {
            descriptors.clear();
            descriptors.addAll(descriptorsNow());
            descriptors.removeAll(before.descriptors);
            return descriptors.isEmpty();
        });
        long allowed = before.nativeBytes + toleratedBytes;
        Await.until(
                () -> "%s: %d bytes of native memory, %d before".formatted(where, nativeBytesNow(), before.nativeBytes),
                Await.DEADLINE,
                () -> {
                    if (nativeBytesNow() > allowed) {
                        System.gc();
                    }
                    return nativeBytesNow() <= allowed;
                });
    }

    private static Set<String> descriptorsNow() {
        try {
            return Folder.entries(Path.of("/proc/self/fd")).stream()
                    .flatMap(ProcessResources::target)
                    .filter(target -> !target.startsWith("/") || target.startsWith("/dev/infiniband/"))
                    .collect(Collectors.toCollection(TreeSet::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<String> target(Path descriptor) {
        try {
            String target = Files.readSymbolicLink(descriptor).toString();
            // the kernel gives these no number of their own
            return Stream.of(target.startsWith("anon_inode:") ? target + " as " + descriptor.getFileName() : target);
        } catch (IOException _) {
            return Stream.empty(); // closed meanwhile
        }
    }

    private static Set<String> threadsNow() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("trigon-"))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Works where the JVM was started with -XX:NativeMemoryTracking=summary. */
    private static long nativeBytesNow() {
        try {
            String report = (String) ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "vmNativeMemory",
                            new Object[] {new String[] {"summary", "scale=b"}},
                            new String[] {String[].class.getName()});
            Matcher matcher = OTHER.matcher(report);
            if (matcher.find()) {
                return Long.parseLong(matcher.group(1));
            }
            if (report.contains("not enabled")) {
                throw new AssertionError("start the JVM with -XX:NativeMemoryTracking=summary, so that arenas can be"
                        + " counted: " + report);
            }
            return 0; // a kind of memory of which there is none is not listed
        } catch (JMException e) {
            throw new AssertionError("the JVM does not tell its native memory", e);
        }
    }

    private static long residentBytesNow() {
        try {
            Matcher matcher = RESIDENT.matcher(Files.readString(Path.of("/proc/self/status")));
            if (matcher.find()) {
                return Long.parseLong(matcher.group(1)) << 10;
            }
            throw new AssertionError("the kernel does not tell this process's resident memory");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return "%d descriptors, %d threads, %d bytes of arenas and direct buffers, %d MiB resident"
                .formatted(descriptors.size(), threads.size(), nativeBytes, residentBytes >> 20);
    }
}
