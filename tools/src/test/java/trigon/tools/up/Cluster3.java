package trigon.tools.up;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.Observations.Heard;

/** Nodes a, b and c as they see themselves: a LAN on eth0, and what a test gives them. */
final class Cluster3 {

    private final Map<String, List<Object>> nics = new LinkedHashMap<>();
    private final Map<String, Map<String, String>> managers = new LinkedHashMap<>();
    private final Map<String, StringBuilder> surveys = new LinkedHashMap<>();
    private final List<Heard> heard = new ArrayList<>();
    private final Map<String, String> logins = new LinkedHashMap<>();

    /** The nodes on their LAN. */
    static Cluster3 of(String... nodes) {
        Cluster3 all = new Cluster3();
        for (int i = 0; i < nodes.length; i++) {
            all.nic(nodes[i], "eth0", "192.168.1." + (i + 1) + "/24");
        }
        all.wire(Stream.of(nodes).map(node -> node + " eth0").toArray(String[]::new));
        return all;
    }

    Cluster3 nic(String node, String name, String... addresses) {
        nics.computeIfAbsent(node, _ -> new ArrayList<>())
                .add(Json.object(
                        "name",
                        name,
                        "mtu",
                        1500,
                        "mac",
                        node + name,
                        "carrier",
                        true,
                        "addresses",
                        List.of(addresses)));
        return said(node, "nic %s 0x1003 1500 65535 nic".formatted(name));
    }

    /** A line of the node's survey. */
    Cluster3 said(String node, String line) {
        surveys.computeIfAbsent(node, _ -> new StringBuilder()).append(line).append('\n');
        return this;
    }

    /** Both ends, which have these addresses or none, and hear each other. */
    Cluster3 cable(String one, String other, String... addresses) {
        String[] from = one.split(" ", -1);
        String[] to = other.split(" ", -1);
        nic(
                from[0],
                from[1],
                addresses.length > 0 && !addresses[0].isEmpty() ? new String[] {addresses[0]} : new String[0]);
        nic(to[0], to[1], addresses.length > 1 ? new String[] {addresses[1]} : new String[0]);
        return wire(one, other);
    }

    private Cluster3 wire(String... ends) {
        for (String one : ends) {
            for (String other : ends) {
                String[] by = one.split(" ", -1);
                String[] from = other.split(" ", -1);
                if (!by[0].equals(from[0])) {
                    heard.add(new Heard(by[0], by[1], from[0], from[1]));
                }
            }
        }
        return this;
    }

    Cluster3 manager(String node, String nic, String manager) {
        managers.computeIfAbsent(node, _ -> new LinkedHashMap<>()).put(nic, manager);
        return this;
    }

    Cluster3 login(String node, String address) {
        logins.put(node, address);
        return this;
    }

    Observations seen() {
        Map<String, NodeFacts> facts = new LinkedHashMap<>();
        nics.forEach((node, all) -> {
            Map<String, Object> json =
                    Json.object("host", node, "interfaces", all, "managers", managers.getOrDefault(node, Map.of()));
            String login = logins.get(node);
            if (login != null) {
                json.put("loginAddress", login);
            }
            facts.put(node, JsonObject.parse(Json.text(json)).as(NodeFacts.class));
        });
        return new Observations(facts, Map.of(), List.of(), heard, List.of(), false);
    }

    Map<String, Survey> surveys() {
        Map<String, Survey> all = new LinkedHashMap<>();
        surveys.forEach((node, text) -> all.put(node, Survey.read(text.toString())));
        return all;
    }

    Ends ends() {
        return Ends.of(seen(), surveys());
    }

    UpPlan plan() {
        return UpPlan.of(seen(), ends(), surveys(), new UpPlan.Wishes(77, 9000));
    }

    /** The address that an end is to have. */
    String planned(String end) {
        return plan().ends().stream()
                .filter(nic -> end.equals(nic.end().node() + " " + nic.end().nic()))
                .map(nic -> nic.end().address().toString())
                .findFirst()
                .orElse("none");
    }
}
