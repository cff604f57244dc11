package trigon.cluster.diagnosis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.cluster.probe.LinkResult;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.Observations.Clock;
import trigon.cluster.probe.Observations.Heard;
import trigon.cluster.probe.Observations.Probe;

/** Observations of healthy nodes with cables, in which tests plant faults. */
final class Nodes {

    final Map<String, Map<String, Object>> facts = new LinkedHashMap<>();
    final Map<String, String> silent = new TreeMap<>();
    final List<Clock> clocks = new ArrayList<>();
    final List<Heard> heard = new ArrayList<>();
    final Map<String, Map<String, Object>> probes = new LinkedHashMap<>();

    private int subnets;

    static Nodes withCables(String... cables) {
        Nodes nodes = new Nodes();
        for (String cable : cables) {
            nodes.cable(cable.substring(0, 1), cable.substring(1));
        }
        return nodes;
    }

    static Nodes triangle() {
        return withCables("ab", "ac", "bc");
    }

    private void cable(String a, String b) {
        subnets++;
        String nicOfA = "if" + subnets + a;
        String nicOfB = "if" + subnets + b;
        node(a, nicOfA, "10.0." + subnets + ".1");
        node(b, nicOfB, "10.0." + subnets + ".2");
        heard.add(new Heard(a, nicOfA, b, nicOfB));
        heard.add(new Heard(b, nicOfB, a, nicOfA));
        probe(a, b, "10.0." + subnets + ".1", "10.0." + subnets + ".2");
        probe(b, a, "10.0." + subnets + ".2", "10.0." + subnets + ".1");
    }

    private void node(String name, String nic, String address) {
        Map<String, Object> node = facts.computeIfAbsent(name, _ -> {
            clocks.add(new Clock(name, 3, 5));
            return Json.object(
                    "version",
                    "1.0",
                    "interfaces",
                    new ArrayList<>(),
                    "links",
                    new ArrayList<>(),
                    "rdmaPorts",
                    new ArrayList<>(),
                    "leftOut",
                    new ArrayList<>(),
                    "problems",
                    new ArrayList<>(),
                    "limits",
                    Json.object("lockedBytes", "unlimited", "openFiles", "1048576", "sharedMemoryBytes", 8L << 30),
                    "environment",
                    Json.object("NCCL_NET", "Trigon"),
                    "clusterFingerprint",
                    "12345678",
                    "settings",
                    new ArrayList<>(List.of("links: auto (default)", "nodes.a.nics: x (y)")));
        });
        list(node, "interfaces")
                .add(Json.object(
                        "name",
                        nic,
                        "state",
                        "up",
                        "carrier",
                        true,
                        "speedMbps",
                        100_000,
                        "duplex",
                        "full",
                        "mtu",
                        9000,
                        "addresses",
                        new ArrayList<>(List.of(address + "/24")),
                        "pci",
                        Json.object("negotiated", "32 GT/s x4", "possible", "32 GT/s x4"),
                        "counters",
                        Json.object("rx_errors", 5)));
        list(node, "links").add(Json.object("kind", "software", "interface", nic, "address", address + "/24"));
    }

    private void probe(String a, String b, String from, String to) {
        probes.put(
                a + " " + b + " " + from + " " + to,
                Json.object(
                        "from",
                        from,
                        "to",
                        to,
                        "source",
                        from,
                        "tcp",
                        "ok",
                        "data",
                        "right",
                        "udp",
                        "ok",
                        "roceUdp",
                        "ok",
                        "mtuArrives",
                        9000,
                        "roundTripMicros",
                        50,
                        "rateMbps",
                        90_000));
    }

    @SuppressWarnings("unchecked")
    static List<Map<String, Object>> list(Map<String, Object> of, String key) {
        return (List<Map<String, Object>>) (List<?>) Objects.requireNonNull(of.get(key));
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Map<String, Object> of, String key) {
        return (Map<String, Object>) Objects.requireNonNull(of.get(key));
    }

    @SuppressWarnings("unchecked")
    static List<String> texts(Map<String, Object> of, String key) {
        return (List<String>) Objects.requireNonNull(of.get(key));
    }

    Map<String, Object> node(String name) {
        return Objects.requireNonNull(facts.get(name));
    }

    /** An interface of a node, by its place. */
    Map<String, Object> nic(String node, int index) {
        return list(node(node), "interfaces").get(index);
    }

    /** Another address for the interface, of which the link knows. */
    void address(String node, int index, String address) {
        nic(node, index).put("addresses", new ArrayList<>(List.of(address)));
        list(node(node), "links").get(index).put("address", address);
    }

    void probes(Consumer<Map<String, Object>> change) {
        probes.values().forEach(change);
    }

    Observations observations() {
        Map<String, NodeFacts> byNode = new LinkedHashMap<>();
        // by way of text, as they come from other nodes
        facts.forEach((name, node) ->
                byNode.put(name, JsonObject.parse(Json.line(node)).as(NodeFacts.class)));
        List<Probe> tried = new ArrayList<>();
        probes.forEach((name, result) -> {
            String[] words = name.split(" ", -1);
            tried.add(new Probe(
                    words[0], words[1], JsonObject.parse(Json.line(result)).as(LinkResult.class)));
        });
        return new Observations(byNode, silent, clocks, heard, tried, true);
    }
}
