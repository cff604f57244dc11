package trigon.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import trigon.benchmarks.NetBench.Plugin;
import trigon.benchmarks.NetBench.Result;

/** The parts of the page on what grows with connections and with nodes. */
final class Growth {

    /** What should be flat, or linear, may be so much worse with many. */
    private static final double TOLERANCE = 1.2;

    /** With fewer, what a process has once counts for too much. */
    private static final int FEW_COMMS = 16;

    /** The first ones' memory is in part what the process has already. */
    private static final int FEW_FOR_MEMORY = 256;

    private static final int FEW_NODES = 64;

    private final Render page;

    Growth(Render page) {
        this.page = page;
    }

    void render() throws IOException {
        connections();
        nodes();
    }

    private void connections() throws IOException {
        page.heading("Many connections: `./trigon bench growth`");
        Optional<JsonNode> json = page.read("growth.json");
        if (json.isEmpty()) {
            return;
        }
        NetBench run = NetBench.of(json.get());
        page.describe(run);
        page.line(
                "| plugin | connections | `test()` that finds nothing, ns: of one | of all in turns | message of 8 B, ns: of one"
                        + " | of all in turns | KiB each | descriptors each | threads | made per second |");
        page.line("|---|---|---|---|---|---|---|---|---|---|");
        run.plugins().forEach(Growth.this::rows);
        page.line("");
        if (run.plugin(Render.TRIGON).isPresent()) {
            plotConnections(run.plugin(Render.TRIGON).get(), run.plugin(Render.DEVICE_ALONE));
        }
    }

    private void rows(Plugin plugin) {
        for (Result grown : plugin.results()) {
            if (grown.question().equals("growth")) {
                page.line("| %s | %d | %s | %s | %s | %s | %s | %s | %s | %s |"
                        .formatted(
                                plugin.name(),
                                grown.comms(),
                                Budget.number(ofOne(plugin, "test_empty", grown.comms(), -1)),
                                Budget.number(onProcessor(plugin, "test_empty", grown.comms(), -1)),
                                Budget.number(ofOne(plugin, "message", grown.comms(), 8)),
                                Budget.number(onProcessor(plugin, "message", grown.comms(), 8)),
                                Budget.number(grown.number("kib_each")),
                                Budget.number(grown.number("descriptors_each")),
                                Budget.number(grown.number("threads")),
                                Budget.number(grown.number("per_second"))));
            }
        }
    }

    private void plotConnections(Plugin trigon, Optional<Plugin> alone) throws IOException {
        List<Result> grown = trigon.results().stream()
                .filter(result -> result.question().equals("growth"))
                .toList();
        BarChart times = new BarChart("By number of connections: one used, and all in turns", "ns");
        BarChart holdings = new BarChart("Each further connection", "KiB, us");
        grown.forEach(result -> {
            int comms = result.comms();
            String group = comms + " connections";
            times.add(group, "test() finds nothing, one used", ofOne(trigon, "test_empty", comms, -1));
            times.add(group, "8 B message, one used", ofOne(trigon, "message", comms, 8));
            times.add(group, "test() finds nothing", onProcessor(trigon, "test_empty", comms, -1));
            times.add(group, "8 B message", onProcessor(trigon, "message", comms, 8));
            alone.flatMap(device -> device.find("message", comms, 8))
                    .ifPresent(device -> times.add(group, "8 B, the device alone", device.onProcessor()));
            alone.flatMap(device -> device.find("test_empty", comms, -1))
                    .ifPresent(device -> times.add(group, "test(), the device alone", device.onProcessor()));
            holdings.add(group, "memory, KiB", result.number("kib_each"));
            holdings.add(group, "to set up, us", 1e6 / result.number("per_second"));
        });
        page.plot("growth.svg", times);
        page.plot("growth-each.svg", holdings);
        String test = "`test()` that finds nothing";
        String message = "message of 8 B";
        String inTurns = ", all used in turns";
        String added = inTurns + ", less the device alone";
        judge(test + ", one used", 1, by(grown, at -> ofOne(trigon, "test_empty", at.comms(), -1)), "connections");
        judge(message + ", one used", 1, by(grown, at -> ofOne(trigon, "message", at.comms(), 8)), "connections");
        String toAlone = ", one used, beside the device alone";
        judge(test + toAlone, 1, by(grown, at -> toAlone(trigon, alone, "test_empty", at.comms(), -1)), "connections");
        judge(message + toAlone, 1, by(grown, at -> toAlone(trigon, alone, "message", at.comms(), 8)), "connections");
        judge(test + inTurns, 1, by(grown, at -> onProcessor(trigon, "test_empty", at.comms(), -1)), "connections");
        judge(test + added, 1, by(grown, at -> added(trigon, alone, "test_empty", at.comms(), -1)), "connections");
        judge(message + inTurns, 1, by(grown, at -> onProcessor(trigon, "message", at.comms(), 8)), "connections");
        judge(message + added, 1, by(grown, at -> added(trigon, alone, "message", at.comms(), 8)), "connections");
        judge("memory of one more", FEW_FOR_MEMORY, by(grown, at -> at.number("kib_each")), "connections");
        judge("descriptors of one more", FEW_COMMS, by(grown, at -> at.number("descriptors_each")), "connections");
        judge("setting one up", FEW_COMMS, by(grown, at -> 1e6 / at.number("per_second")), "connections");
    }

    /** A figure by the number of connections. */
    private static Map<Integer, Double> by(List<Result> grown, ToDoubleFunction<Result> figure) {
        Map<Integer, Double> figures = new LinkedHashMap<>();
        grown.forEach(at -> figures.put(at.comms(), figure.applyAsDouble(at)));
        return figures;
    }

    private void nodes() throws IOException {
        page.heading("Many nodes: `./trigon bench nodes`");
        Optional<JsonNode> json = page.read("nodes.json");
        if (json.isEmpty()) {
            return;
        }
        Map<String, Map<Integer, Double>> byQuestion = new LinkedHashMap<>();
        for (JsonNode each : json.get()) {
            String benchmark = each.path("benchmark").asText();
            int nodes = each.path("params").path("nodes").asInt();
            JsonNode metric = each.path("primaryMetric");
            // of the iterations the median: a single slow second is the machine's
            double median = metric.path("scorePercentiles")
                    .path("50.0")
                    .asDouble(metric.path("score").asDouble());
            double perNode = median / nodes;
            byQuestion
                    .computeIfAbsent(benchmark.substring(benchmark.lastIndexOf('.') + 1), _ -> new TreeMap<>())
                    .put(nodes, perNode);
        }
        Map<Integer, Double> files = byQuestion.getOrDefault("readClusterFile", Map.of());
        Map<Integer, Double> paths = byQuestion.getOrDefault("pathsToAllPeers", Map.of());
        Map<Integer, Double> handshakes = byQuestion.getOrDefault("connectionsOfAllNodes", Map.of());
        BarChart chart = new BarChart("By number of nodes, for each node", "ns");
        page.line(
                "| nodes | cluster file, ns for each node | paths to all others, ns for each | handshakes of all others with"
                        + " one, ns for each |");
        page.line("|---|---|---|---|");
        files.forEach((nodes, file) -> {
            double path = paths.getOrDefault(nodes, Double.NaN);
            double handshake = handshakes.getOrDefault(nodes, Double.NaN);
            page.line("| %d | %s | %s | %s |"
                    .formatted(nodes, Budget.number(file), Budget.number(path), Budget.number(handshake)));
            chart.add(nodes + " nodes", "cluster file", file);
            chart.add(nodes + " nodes", "paths to it", path);
            if (!Double.isNaN(handshake)) {
                chart.add(nodes + " nodes", "its handshake", handshake);
            }
        });
        page.line("");
        page.plot("nodes.svg", chart);
        judge("cluster file, for each node", FEW_NODES, files, "nodes");
        judge("paths, for each node", FEW_NODES, paths, "nodes");
        judge("handshakes, for each node", FEW_NODES, handshakes, "nodes");
    }

    private void judge(String what, int few, Map<Integer, Double> each, String of) {
        int most = each.keySet().stream().max(Integer::compare).orElse(0);
        Double withMost = each.get(most);
        Double withFew = each.get(few);
        if (most > few && withMost != null && withFew != null && !Double.isNaN(withMost / withFew)) {
            page.budget(Budget.atMost(
                    "growth, %s: with %d %s, to %d".formatted(what, most, of, few),
                    withMost / withFew,
                    TOLERANCE,
                    "times"));
        }
    }

    /** Of one connection, while all others rest. */
    private static double ofOne(Plugin plugin, String question, int comms, long bytes) {
        return onProcessor(plugin, comms == 1 ? question : question + "_of_one", comms, bytes);
    }

    /** The same to the device's, measured in turns with it: what the clock did between few and many is not in it. Or NaN. */
    private static double toAlone(Plugin plugin, Optional<Plugin> alone, String question, int comms, long bytes) {
        double device = alone.map(each -> ofOne(each, question, comms, bytes)).orElse(Double.NaN);
        return ofOne(plugin, question, comms, bytes) / device;
    }

    /** What the plugin adds to the device, or NaN. */
    private static double added(Plugin plugin, Optional<Plugin> alone, String question, int comms, long bytes) {
        double device =
                alone.map(each -> onProcessor(each, question, comms, bytes)).orElse(Double.NaN);
        return onProcessor(plugin, question, comms, bytes) - device;
    }

    private static double onProcessor(Plugin plugin, String question, int comms, long bytes) {
        return plugin.find(question, comms, bytes).map(Result::onProcessor).orElse(Double.NaN);
    }
}
