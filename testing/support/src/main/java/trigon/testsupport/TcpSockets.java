package trigon.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.stream.Stream;
import trigon.system.file.Folder;

/**
 * TCP connections of this process, as the kernel lists them ({@code proc_pid_net(5)}), to be ended behind their owners'
 * backs, as a firewall or {@code ss -K} does.
 */
public final class TcpSockets {

    private static final int SHUT_RDWR = 2;
    private static final String ESTABLISHED = "01";

    private static final MethodHandle SHUTDOWN = Linker.nativeLinker()
            .downcallHandle(
                    Linker.nativeLinker().defaultLookup().findOrThrow("shutdown"),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

    private TcpSockets() {}

    /** The descriptors of this process's connections to that port, wherever it is; in ascending order. */
    public static List<Integer> connectedTo(int port) {
        return descriptors((_, remote) -> remote.endsWith(":%04X".formatted(port)));
    }

    /** Those of which one end has one of these IPv4 addresses, and whose ports, of both ends, are as they should be. */
    public static List<Integer> between(Set<String> addresses, Predicate<Set<Integer>> ports) {
        return descriptors((local, remote) ->
                (addresses.contains(address(local)) || addresses.contains(address(remote)))
                        && ports.test(Set.of(port(local), port(remote) + (port(local) == port(remote) ? 1 : 0))));
    }

    /** The kernel writes it in the order of the machine's bytes, behind the prefix where it is mapped to IPv6. */
    private static String address(String end) {
        int value = (int) Long.parseLong(end.substring(end.indexOf(':') - 8, end.indexOf(':')), 16);
        return "%d.%d.%d.%d".formatted(value & 0xFF, value >>> 8 & 0xFF, value >>> 16 & 0xFF, value >>> 24);
    }

    private static int port(String end) {
        return Integer.parseInt(end.substring(end.indexOf(':') + 1), 16);
    }

    private static List<Integer> descriptors(BiPredicate<String, String> wanted) {
        Set<String> names = new HashSet<>();
        for (String table : List.of("/proc/self/net/tcp", "/proc/self/net/tcp6")) {
            lines(Path.of(table)).map(line -> line.strip().split("\\s+")).forEach(fields -> {
                if (fields[3].equals(ESTABLISHED) && wanted.test(fields[1], fields[2])) {
                    names.add("socket:[" + fields[9] + "]");
                }
            });
        }
        List<Integer> descriptors = new ArrayList<>();
        try {
            for (Path descriptor : Folder.entries(Path.of("/proc/self/fd"))) {
                if (names.contains(target(descriptor))) {
                    descriptors.add(Integer.valueOf(descriptor.getFileName().toString()));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        descriptors.sort(null);
        return descriptors;
    }

    private static Stream<String> lines(Path table) {
        try {
            return Files.readAllLines(table).stream().skip(1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException _) {
            return ""; // closed meanwhile
        }
    }

    /** Ends a connection in both directions; whoever has it learns of that by his next read or write. */
    public static void shutDown(int descriptor) {
        if (!shutDownUnlessOver(descriptor)) {
            throw new AssertionError("shutdown of descriptor " + descriptor + " failed");
        }
    }

    /** The same; false if it has ended meanwhile. */
    public static boolean shutDownUnlessOver(int descriptor) {
        try {
            return (int) SHUTDOWN.invokeExact(descriptor, SHUT_RDWR) == 0;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
