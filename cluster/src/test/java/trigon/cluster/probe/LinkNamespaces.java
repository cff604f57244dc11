package trigon.cluster.probe;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import trigon.cluster.json.Json;
import trigon.testsupport.Await;

/** Nodes that are network namespaces of this machine, joined by pairs of virtual interfaces. Needs root. */
public final class LinkNamespaces implements FaultyNodes, AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final AtomicInteger MADE = new AtomicInteger();

    /** A namespace of its own, where switches are. */
    private static final String SWITCHES = "sw";

    private static final List<String> KINDS = List.of("veth", "bridge", "dummy", "tun");

    private static final List<String> KERNEL_RULES = List.of("0", "32766", "32767");

    private final String prefix = "tr" + ProcessHandle.current().pid() + "-" + MADE.incrementAndGet();
    private final Map<String, NodeConnection> agents = new HashMap<>();
    private final List<End> ends = new ArrayList<>();

    private int switches;

    private record End(String node, String nic) {}

    public LinkNamespaces(String... nodes) throws IOException {
        var _ = run("ip netns add " + prefix + SWITCHES);
        for (String node : nodes) {
            var _ = run("ip netns add " + prefix + node);
            in(node, "ip link set lo up");
        }
        for (String node : nodes) {
            agents.put(node, agent(node));
        }
        for (NodeConnection node : nodes()) {
            var _ = node.ask(Json.object("do", "pretend")); // it answers: no test waits for its start
        }
    }

    /** Whether this user may make them. */
    public static boolean areThere() {
        String name = "tr" + ProcessHandle.current().pid() + "-try" + MADE.incrementAndGet();
        try {
            var _ = run("ip netns add " + name);
            var _ = run("ip netns del " + name);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private NodeConnection agent(String node) throws IOException {
        return AgentProcess.start(List.of("ip", "netns", "exec"), prefix + node, PATIENCE);
    }

    @Override
    public List<NodeConnection> nodes() {
        return agents.keySet().stream().sorted().map(agents::get).toList();
    }

    @Override
    public NodeConnection node(String node) {
        return Objects.requireNonNull(agents.get(node));
    }

    /** Without cables, rules and pretences. */
    void renew() throws IOException {
        unplug();
        for (String node : agents.keySet()) {
            if (hasFirewall()) {
                in(node, "iptables -w -F");
            }
            in(node, "sysctl -qw net.ipv4.ip_forward=0");
            in(node, "sysctl -qw net.ipv6.conf.default.disable_ipv6=0");
            in(node, "ip addr flush dev lo scope global");
            removeRules(node);
            var _ = node(node).ask(Json.object("do", "pretend"));
        }
    }

    /** All but the kernel's own three. */
    private void removeRules(String node) throws IOException {
        List<String> preferences = run("ip -n " + prefix + node + " rule")
                .lines()
                .map(line -> line.replaceFirst(":.*", ""))
                .filter(preference -> !KERNEL_RULES.contains(preference))
                .toList();
        for (String preference : preferences) {
            in(node, "ip rule del pref " + preference);
        }
    }

    /** Whether rules can be planted. */
    boolean hasFirewall() {
        try {
            var _ = run("ip netns exec " + prefix + "a iptables -w -S");
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Starts a node's agent anew. */
    void restart(String node) throws IOException {
        node(node).close();
        agents.put(node, agent(node));
    }

    boolean isCabled() {
        return !ends.isEmpty();
    }

    /** A cable between interfaces that are called ab and ba for nodes a and b, with a subnet of its own. */
    void cable(String a, String b, int subnet) throws IOException {
        String here = a + b + subnet;
        String there = b + a + subnet;
        in(a, "ip link add %s type veth peer name %s netns %s%s".formatted(here, there, prefix, b));
        end(a, here);
        end(b, there);
        in(a, "ip addr add 10.77." + subnet + ".1/24 dev " + here);
        in(b, "ip addr add 10.77." + subnet + ".2/24 dev " + there);
    }

    /**
     * A wire with these ends, up and without addresses: two of them, or as many as a switch has, and as the functions
     * of two ports are.
     *
     * @param nodesAndNics for example {@code a eth0}, {@code b eth0}
     */
    public void wire(String... nodesAndNics) throws IOException {
        if (nodesAndNics.length == 2) {
            String[] one = nodesAndNics[0].split(" ", -1);
            String[] other = nodesAndNics[1].split(" ", -1);
            in(one[0], "ip link add %s type veth peer name %s netns %s".formatted(one[1], other[1], prefix + other[0]));
            end(one[0], one[1]);
            end(other[0], other[1]);
            return;
        }
        String bridge = "sw" + ++switches;
        String ofSwitches = "ip -n " + prefix + SWITCHES + " link ";
        var _ = run(ofSwitches + "add " + bridge + " type bridge");
        var _ = run(ofSwitches + "set " + bridge + " up");
        for (int i = 0; i < nodesAndNics.length; i++) {
            String[] end = nodesAndNics[i].split(" ", -1);
            String port = bridge + "p" + i;
            in(end[0], "ip link add %s type veth peer name %s netns %s".formatted(end[1], port, prefix + SWITCHES));
            var _ = run(ofSwitches + "set " + port + " mtu 9000 master " + bridge); // as much as an end may ask for
            var _ = run(ofSwitches + "set " + port + " up");
            end(end[0], end[1]);
        }
    }

    /**
     * Waits until each end of each cable can say hello: a carrier, and with it the link-local address, comes a moment
     * after an interface is up.
     */
    public void awaitCables() {
        for (End end : ends) {
            Await.until(end + " has a link-local address", () -> isWithoutIpv6(end) || isReady(end));
        }
    }

    private boolean isWithoutIpv6(End end) {
        try {
            return run("ip netns exec " + prefix + end.node() + " sysctl -n net.ipv6.conf." + slashed(end.nic())
                            + ".disable_ipv6")
                    .startsWith("1");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As sysctl takes the name of a VLAN: a dot would begin the next part. */
    private static String slashed(String nic) {
        return nic.replace('.', '/');
    }

    private boolean isReady(End end) {
        try {
            return run("ip netns exec " + prefix + end.node() + " ip -6 -o addr show scope link -tentative dev "
                            + end.nic())
                    .contains("inet6 fe80:");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void end(String node, String nic) throws IOException {
        in(node, "sysctl -qw net.ipv6.conf." + slashed(nic) + ".accept_dad=0");
        in(node, "ip link set " + nic + " up");
        ends.add(new End(node, nic));
    }

    /** Takes all cables away, with addresses, routes and switches, and what nodes have made themselves. */
    void unplug() throws IOException {
        List<String> all = new ArrayList<>(agents.keySet());
        all.add(SWITCHES);
        for (String node : all) {
            for (String kind : KINDS) {
                for (List<String> nics = nics(node, kind); !nics.isEmpty(); nics = nics(node, kind)) {
                    var _ = run("ip -n " + prefix + node + " link del " + nics.getFirst());
                }
            }
        }
        ends.clear();
    }

    private List<String> nics(String node, String kind) throws IOException {
        return run("ip -n " + prefix + node + " -o link show type " + kind)
                .lines()
                .filter(line -> line.matches("\\d+: .*")) // it may complain, too
                .map(line -> line.split(": ", -1)[1].replaceFirst("@.*", ""))
                .toList();
    }

    @Override
    public void in(String node, String command) throws IOException {
        var _ = run("ip netns exec " + prefix + node + " "
                + (agents.containsKey(node) ? AgentProcess.known(command, node(node)) : command));
    }

    private static String run(String command) throws IOException {
        return Command.run(List.of(command.split(" ", -1)));
    }

    @Override
    public void close() throws IOException {
        for (Map.Entry<String, NodeConnection> each : agents.entrySet()) {
            each.getValue().close();
            var _ = run("ip netns del " + prefix + each.getKey());
        }
        var _ = run("ip netns del " + prefix + SWITCHES);
    }
}
