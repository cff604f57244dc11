package trigon.tools.probe;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import trigon.tools.console.Json;

/** Nodes that are network namespaces of this machine, joined by pairs of virtual interfaces. Needs root. */
final class LinkNamespaces implements AutoCloseable {

    private static final long DEADLINE_SECONDS = 60;

    private final String prefix = "tr" + ProcessHandle.current().pid() + "-";
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
        return RemoteNode.start(
                List.of("ip", "netns", "exec"),
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        classPath(),
                        PretendingAgent.class.getName()),
                prefix + node);
    }

    /** As the command's own, which has no Logback: that of the tests would print to where the answers go. */
    private static String classPath() {
        return Pattern.compile(File.pathSeparator)
                .splitAsStream(System.getProperty("java.class.path"))
                .filter(jar -> !jar.contains("logback"))
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** The nodes, as an examination asks them. */
    List<NodeConnection> nodes() {
        return agents.keySet().stream().sorted().map(agents::get).toList();
    }

    /** One of them. */
    NodeConnection node(String node) {
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

    /** Runs a command on a node; PID in it is the agent's. */
    void in(String node, String command) throws IOException {
        String known = command;
        if (command.contains(" PID ")) {
            long pid = node(node).ask(Json.object("do", "pid")).whole("pid");
            known = command.replace(" PID ", " " + pid + " ");
        }
        run("ip netns exec " + prefix + node + " " + known);
    }

    private static void run(String command) throws IOException {
        Path output = Files.createTempFile("trigon-namespaces", ".log");
        try {
            Process process = new ProcessBuilder(command.split(" ", -1))
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IOException(command + ": "
                        + Files.readString(output, StandardCharsets.UTF_8).strip());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        } finally {
            Files.delete(output);
        }
    }

    @Override
    public void close() throws IOException {
        for (Map.Entry<String, NodeConnection> each : agents.entrySet()) {
            each.getValue().close();
            run("ip netns del " + prefix + each.getKey());
        }
    }
}
