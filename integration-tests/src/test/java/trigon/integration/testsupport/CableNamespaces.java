package trigon.integration.testsupport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Nodes that are network namespaces, with virtual cables between them. Needs root; closing removes them. */
public final class CableNamespaces implements AutoCloseable {

    private static final int COMMAND_SECONDS = 60;

    private static final AtomicInteger MADE = new AtomicInteger();

    private final String prefix = "trigon-" + ProcessHandle.current().pid() + "-" + MADE.incrementAndGet() + "-";
    private final Set<String> nodes = new LinkedHashSet<>();

    /** None yet. Skips the test where there can be none; fails where the build must have all it needs. */
    public static CableNamespaces open() {
        String probe = "trigon-probe-" + ProcessHandle.current().pid() + "-" + MADE.incrementAndGet();
        boolean possible = succeeds("ip", "netns", "add", probe) && succeeds("ip", "netns", "del", probe);
        if ("required".equals(System.getenv("TRIGON_CONTAINERS"))) {
            assertThat(possible).as("network namespaces, by root with ip netns").isTrue();
        }
        assumeTrue(possible, "network namespaces need root, and ip of iproute2");
        return new CableNamespaces();
    }

    /** A node, which has nothing but its loopback. */
    public void node(String name) {
        nodes.add(name);
        run("ip", "netns", "add", prefix + name);
        inside(name, "ip", "link", "set", "lo", "up");
    }

    /** A cable: an interface at each end, with an address, up. */
    public void cable(String one, String itsInterface, String itsAddress, String other, String name, String address) {
        plug(one, itsInterface, other, name);
        inside(one, "ip", "addr", "add", itsAddress, "dev", itsInterface);
        inside(other, "ip", "addr", "add", address, "dev", name);
        set(one, itsInterface, true);
        set(other, name, true);
    }

    /** A cable whose ends are up, and have no addresses but those that the kernel gives them. */
    public void cable(String one, String itsInterface, String other, String name) {
        plug(one, itsInterface, other, name);
        set(one, itsInterface, true);
        set(other, name, true);
    }

    /**
     * A wire with these ends, up and without addresses: a cable, or a switch if they are more than two.
     *
     * @param ends each a node and its interface, such as {@code a eth0}
     */
    public void wire(String... ends) {
        if (ends.length == 2) {
            String[] one = ends[0].split(" ", -1);
            String[] other = ends[1].split(" ", -1);
            cable(one[0], one[1], other[0], other[1]);
            return;
        }
        switched(ends);
    }

    /**
     * A switch with these ends, of an MTU of its own, through which nobody knows of one: frames that are longer vanish.
     * The ends' own frames are as long as their MTU says, and not put together for the kernel's next layer.
     *
     * @return its name among the nodes, for {@link #limit}
     */
    public String switched(int mtu, String... ends) {
        String wire = switched(ends);
        for (String each : ends) {
            String[] end = each.split(" ", -1);
            inside(end[0], "ip link set " + end[1] + " mtu 9000 gso_max_segs 1");
        }
        limit(wire, ends.length, mtu);
        return wire;
    }

    /** Gives a switch another MTU. */
    public void limit(String wire, int ends, int mtu) {
        for (int i = 0; i < ends; i++) {
            inside(wire, "ip link set port%d mtu %d".formatted(i, mtu));
        }
    }

    private String switched(String... ends) {
        String wire = "wire" + nodes.size();
        node(wire);
        inside(wire, "ip link add switch0 type bridge");
        set(wire, "switch0", true);
        for (int i = 0; i < ends.length; i++) {
            String[] end = ends[i].split(" ", -1);
            plug(end[0], end[1], wire, "port" + i);
            inside(wire, "ip link set port" + i + " master switch0");
            set(wire, "port" + i, true);
            set(end[0], end[1], true);
        }
        return wire;
    }

    /** Gives addresses: each a node, its interface, and one or more of them. */
    public void addresses(String... all) {
        for (String each : all) {
            String[] words = each.split(" ", -1);
            for (int i = 2; i < words.length; i++) {
                inside(words[0], "ip addr add " + words[i] + " dev " + words[1]);
            }
        }
    }

    private void plug(String one, String itsInterface, String other, String name) {
        run(
                List.of("ip", "link", "add", itsInterface, "netns", prefix + one),
                List.of("type", "veth", "peer", "name", name, "netns", prefix + other));
    }

    /** Waits until each cable of a node has its link-local address: the kernel takes seconds to make and examine it. */
    public void awaitLinkLocal(String node) {
        inside(node, "sh", "-c", """
                cables() { ip -o link show up | grep -vc ': lo:'; }
                ready() { ip -o -6 addr show scope link -tentative | wc -l; }
                for i in $(seq 300); do [ "$(ready)" -ge "$(cables)" ] && exit; sleep 0.1; done; exit 1
                """);
    }

    /** Takes an interface up or down. */
    public void set(String node, String name, boolean up) {
        inside(node, "ip", "link", "set", name, up ? "up" : "down");
    }

    /** Runs a command on a node. */
    public void inside(String node, String... command) {
        run(by(node), List.of(command));
    }

    /** Runs a command line without quotes on a node. */
    public void inside(String node, String command) {
        inside(node, command.split(" "));
    }

    /** Sends what a node has for an address to nobody, while the interface stays up; needs no module of the kernel. */
    public void lose(String node, String name, String address) {
        inside(node, "ip neigh replace " + address + " lladdr 02:00:00:00:00:01 nud permanent dev " + name);
    }

    /** What goes before a command that is to run on a node. */
    public List<String> by(String node) {
        return List.of("ip", "netns", "exec", prefix + node);
    }

    private static void run(String... command) {
        run(List.of(command), List.of());
    }

    private static void run(List<String> command, List<String> more) {
        List<String> all = new ArrayList<>(command);
        all.addAll(more);
        assertThat(succeeds(all.toArray(String[]::new)))
                .as(String.join(" ", all))
                .isTrue();
    }

    private static boolean succeeds(String... command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return false;
            }
            if (process.exitValue() != 0) {
                System.out.println(String.join(" ", command) + ": " + output);
            }
            return process.exitValue() == 0;
        } catch (IOException _) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new IOException("interrupted", e));
        }
    }

    @Override
    public void close() {
        for (String node : nodes) {
            succeeds("ip", "netns", "del", prefix + node);
        }
    }
}
