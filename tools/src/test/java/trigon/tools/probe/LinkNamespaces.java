package trigon.tools.probe;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import trigon.tools.console.Json;

/** Nodes that are network namespaces of this machine, joined by pairs of virtual interfaces. Needs root. */
final class LinkNamespaces implements FaultyNodes, AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final AtomicInteger MADE = new AtomicInteger();

    private final String prefix = "tr" + ProcessHandle.current().pid() + "-" + MADE.incrementAndGet();
    private final Map<String, NodeConnection> agents = new HashMap<>();
    private final List<String> cables = new ArrayList<>();

    LinkNamespaces(String... nodes) throws IOException {
        for (String node : nodes) {
            run("ip netns add " + prefix + node);
            in(node, "ip link set lo up");
        }
        for (String node : nodes) {
            agents.put(node, agent(node));
        }
    }

    /** Whether this user may make them. */
    static boolean areThere() {
        String name = "tr" + ProcessHandle.current().pid() + "-try";
        try {
            run("ip netns add " + name);
            run("ip netns del " + name);
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
        for (NodeConnection node : nodes()) {
            var _ = node.ask(Json.object("do", "pretend"));
        }
    }

    /** Starts a node's agent anew. */
    void restart(String node) throws IOException {
        node(node).close();
        agents.put(node, agent(node));
    }

    boolean isCabled() {
        return !cables.isEmpty();
    }

    /** A cable between interfaces that are called ab and ba for nodes a and b, with a subnet of its own. */
    void cable(String a, String b, int subnet) throws IOException {
        String here = a + b + subnet;
        String there = b + a + subnet;
        in(a, "ip link add %s type veth peer name %s netns %s%s".formatted(here, there, prefix, b));
        end(a, here, "10.77." + subnet + ".1/24");
        end(b, there, "10.77." + subnet + ".2/24");
        cables.add(a + " " + here);
    }

    private void end(String node, String nic, String address) throws IOException {
        in(node, "sysctl -qw net.ipv6.conf." + nic + ".accept_dad=0");
        in(node, "ip addr add " + address + " dev " + nic);
        in(node, "ip link set " + nic + " up");
    }

    /** Takes all cables away. */
    void unplug() throws IOException {
        for (String cable : cables) {
            String[] words = cable.split(" ", -1);
            in(words[0], "ip link del " + words[1]);
        }
        cables.clear();
    }

    @Override
    public void in(String node, String command) throws IOException {
        run("ip netns exec " + prefix + node + " "
                + (agents.containsKey(node) ? AgentProcess.known(command, node(node)) : command));
    }

    private static void run(String command) throws IOException {
        Command.run(List.of(command.split(" ", -1)));
    }

    @Override
    public void close() throws IOException {
        for (Map.Entry<String, NodeConnection> each : agents.entrySet()) {
            each.getValue().close();
            run("ip netns del " + prefix + each.getKey());
        }
    }
}
