package trigon.tools.probe;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import trigon.testsupport.Await;
import trigon.tools.console.Json;

/** Nodes that are network namespaces of this machine, joined by pairs of virtual interfaces. Needs root. */
final class LinkNamespaces implements FaultyNodes, AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final AtomicInteger MADE = new AtomicInteger();

    private final String prefix = "tr" + ProcessHandle.current().pid() + "-" + MADE.incrementAndGet();
    private final Map<String, NodeConnection> agents = new HashMap<>();
    private final List<End> ends = new ArrayList<>();

    private record End(String node, String nic) {}

    LinkNamespaces(String... nodes) throws IOException {
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
    static boolean areThere() {
        String name = "tr" + ProcessHandle.current().pid() + "-try";
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
        return !ends.isEmpty();
    }

    /** A cable between interfaces that are called ab and ba for nodes a and b, with a subnet of its own. */
    void cable(String a, String b, int subnet) throws IOException {
        String here = a + b + subnet;
        String there = b + a + subnet;
        in(a, "ip link add %s type veth peer name %s netns %s%s".formatted(here, there, prefix, b));
        end(a, here, "10.77." + subnet + ".1/24");
        end(b, there, "10.77." + subnet + ".2/24");
        ends.add(new End(a, here));
        ends.add(new End(b, there));
    }

    /**
     * Waits until each end of each cable can say hello: a carrier, and with it the link-local address, comes a moment
     * after an interface is up.
     */
    void awaitCables() {
        for (End end : ends) {
            Await.until(end + " has a link-local address", () -> isReady(end));
        }
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

    private void end(String node, String nic, String address) throws IOException {
        in(node, "sysctl -qw net.ipv6.conf." + nic + ".accept_dad=0");
        in(node, "ip addr add " + address + " dev " + nic);
        in(node, "ip link set " + nic + " up");
    }

    /** Takes all cables away. */
    void unplug() throws IOException {
        for (int i = 0; i < ends.size(); i += 2) { // its other end goes with it
            in(ends.get(i).node(), "ip link del " + ends.get(i).nic());
        }
        ends.clear();
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
    }
}
