package trigon.tools.demo;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Nodes that are network namespaces, with virtual cables between them. By the program {@code ip}. Closing removes them.
 * One thread.
 */
final class CableNamespaces implements AutoCloseable {

    private static final String PREFIX =
            "trigon-demo-" + ProcessHandle.current().pid() + "-";

    /** For sh: makes what the demo makes, and removes it. Fails where something of it is not possible. */
    static final String PROBE = "ip netns add %1$sprobe && {".formatted(PREFIX)
            + " ip -n %1$sprobe link add a1 type veth peer name a2 && ip netns exec %1$sprobe true; made=$?;"
                    .formatted(PREFIX)
            + " ip netns del %1$sprobe && [ $made -eq 0 ]; }".formatted(PREFIX);

    private final List<String> spaces = new ArrayList<>();

    /** Whether this user may make some, and run programs in them. */
    static boolean areAllowed() throws InterruptedException {
        return Program.succeeds(List.of("sh", "-c", PROBE));
    }

    /** A node, which has nothing but its loopback. */
    void node(char node) throws IOException, InterruptedException {
        ip("netns", "add", PREFIX + node);
        spaces.add(PREFIX + node);
        ip("-n", PREFIX + node, "link", "set", "lo", "up");
    }

    /** A cable, whose ends have its name. */
    void cable(String cable, char one, char other) throws IOException, InterruptedException {
        ip("-n", PREFIX + one, "link", "add", cable, "type", "veth", "peer", "name", cable, "netns", PREFIX + other);
    }

    /** Gives a cable's end an address, with its prefix. */
    void address(char node, String cable, String address) throws IOException, InterruptedException {
        ip("-n", PREFIX + node, "address", "add", address, "dev", cable);
    }

    /** Takes a cable's end up or down. */
    void set(char node, String cable, boolean up) throws IOException, InterruptedException {
        ip("-n", PREFIX + node, "link", "set", cable, up ? "up" : "down");
    }

    /** What starts a command on a node. */
    List<String> by(char node) {
        return List.of("ip", "netns", "exec", PREFIX + node);
    }

    private static void ip(String... words) throws IOException, InterruptedException {
        Program.run(Stream.concat(Stream.of("ip"), Stream.of(words)).toList());
    }

    /** Whoever interrupts it waits. */
    @Override
    public void close() throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            for (String space : spaces) {
                ip("netns", "del", space);
            }
        } catch (InterruptedException _) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
