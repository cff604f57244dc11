package trigon.cluster.probe;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import trigon.cluster.json.Json;

/** A network that people have posted, with other names and addresses, and what the doctor has to find in it. */
final class FieldCase {

    /** The machines behind a case, from a on; others of it are routers and the like. */
    private final int nodes;

    private final String name;
    private final List<String> codes;
    private final List<String[]> wires = new ArrayList<>();
    private final List<String> before = new ArrayList<>();
    private final List<String> after = new ArrayList<>();
    private final Map<String, Map<String, Object>> environments = new LinkedHashMap<>();
    private final List<String> saying = new ArrayList<>();

    private Optional<Boolean> healthy = Optional.empty();

    private FieldCase(String name, int nodes, List<String> codes) {
        this.name = name;
        this.nodes = nodes;
        this.codes = codes;
    }

    /**
     * One.
     *
     * @param codes of the findings, one for each
     */
    static FieldCase of(String name, int nodes, String... codes) {
        return new FieldCase(name, nodes, List.of(codes));
    }

    /** Ends, each a node and its interface, that are on one wire: a cable, or a switch. */
    FieldCase wire(String... ends) {
        wires.add(ends);
        return this;
    }

    /** A node, its interface, and addresses of that. */
    FieldCase addresses(String... all) {
        for (String each : all) {
            String[] words = each.split(" ", -1);
            for (int i = 2; i < words.length; i++) {
                after.add("%s ip addr add %s dev %s".formatted(words[0], words[i], words[1]));
            }
        }
        return this;
    }

    /** A node and a command, after the wires are there. */
    FieldCase command(String text) {
        after.add(text);
        return this;
    }

    /** A node and a command, before the wires are there. */
    FieldCase firstCommand(String text) {
        before.add(text);
        return this;
    }

    /** Of a node's environment. */
    FieldCase variable(String node, String variable, String value) {
        environments.computeIfAbsent(node, _ -> Json.object()).put(variable, value);
        return this;
    }

    /** What the findings have to say, among other things. */
    FieldCase saying(String... texts) {
        saying.addAll(List.of(texts));
        return this;
    }

    /** Jobs run: no finding is an error. */
    FieldCase healthy() {
        healthy = Optional.of(true);
        return this;
    }

    /** A finding says what stops jobs. */
    FieldCase unhealthy() {
        healthy = Optional.of(false);
        return this;
    }

    Optional<Boolean> isHealthy() {
        return healthy;
    }

    boolean needsFirewall() {
        return after.stream().anyMatch(command -> command.contains(" iptables "));
    }

    void build(LinkNamespaces lab) throws IOException {
        for (String each : before) {
            run(lab, each);
        }
        for (String[] wire : wires) {
            lab.wire(wire);
        }
        for (String each : after) {
            run(lab, each);
        }
        lab.awaitCables();
        Map<String, Map<String, Object>> files = ports();
        for (String node : Stream.concat(environments.keySet().stream(), files.keySet().stream())
                .distinct()
                .toList()) {
            var _ = lab.node(node)
                    .ask(Json.object(
                            "do",
                            "pretend",
                            "environment",
                            environments.getOrDefault(node, Map.of()),
                            "files",
                            files.getOrDefault(node, Map.of())));
        }
    }

    /** What the kernel says of a DGX Spark's functions of one port, which are on one wire: by node and file. */
    private Map<String, Map<String, Object>> ports() {
        Map<String, Map<String, Object>> files = new LinkedHashMap<>();
        for (int i = 0; i < wires.size(); i++) {
            for (String end : wires.get(i)) {
                String node = end.split(" ", -1)[0] + " ";
                if (Stream.of(wires.get(i)).anyMatch(each -> each.startsWith(node + "enP2p1"))) {
                    String nic = "sys/class/net/" + end.split(" ", -1)[1];
                    Map<String, Object> of = files.computeIfAbsent(node.strip(), _ -> new LinkedHashMap<>());
                    of.put(nic + "/phys_switch_id", "5ea7");
                    of.put(nic + "/phys_port_name", "p" + i);
                }
            }
        }
        return files;
    }

    private static void run(LinkNamespaces lab, String nodeAndCommand) throws IOException {
        String[] words = nodeAndCommand.split(" ", 2);
        lab.in(words[0], words[1]);
    }

    int nodes() {
        return nodes;
    }

    List<String> codes() {
        return codes;
    }

    List<String> texts() {
        return saying;
    }

    @Override
    public String toString() {
        return name;
    }
}
