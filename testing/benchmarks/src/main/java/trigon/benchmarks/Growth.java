package trigon.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
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

    /** The results of one pass over all numbers of nodes, by the pass. */
    private static final String NODES = "nodes-%d.json";

    private static final String TEST = "`test()` that finds nothing";
    private static final String MESSAGE = "message of 8 B";

    private final Render page;

    Growth(Render page) {
        this.page = page;
    }

    void render() throws IOException {
        connections();
        oneOfMany();
        nodes();
    }

    private void connections() throws IOException {
        page.heading("Many connections: `./trigon benchmarks growth`");
        Optional<JsonNode> json = page.read("growth.json");
        if (json.isEmpty()) {
            return;
        }
        NetBench run = NetBench.of(json.get());
        page.describe(run);
        page.line("| plugin | connections | `test()` that finds nothing, ns: of one | of all in turns | message of 8 B,"
                + " ns: of one"
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
        String inTurns = ", all used in turns";
        String added = inTurns + ", less the device alone";
        judge(TEST + inTurns, 1, by(grown, at -> onProcessor(trigon, "test_empty", at.comms(), -1)), "connections");
        judge(TEST + added, 1, by(grown, at -> added(trigon, alone, "test_empty", at.comms(), -1)), "connections");
        judge(MESSAGE + inTurns, 1, by(grown, at -> onProcessor(trigon, "message", at.comms(), 8)), "connections");
        judge(MESSAGE + added, 1, by(grown, at -> added(trigon, alone, "message", at.comms(), 8)), "connections");
        judge("memory of one more", FEW_FOR_MEMORY, by(grown, at -> at.number("kib_each")), "connections");
        judge("descriptors of one more", FEW_COMMS, by(grown, at -> at.number("descriptors_each")), "connections");
        judge("setting one up", FEW_COMMS, by(grown, at -> 1e6 / at.number("per_second")), "connections");
    }

    /** Two processes whose samples alternated: each used one of its connections, of which they had few and many. */
    private void oneOfMany() throws IOException {
        Optional<NetBench> few = page.read("growth-one-of-few.json").map(NetBench::of);
        Optional<NetBench> many = page.read("growth-one-of-many.json").map(NetBench::of);
        if (few.isEmpty() || many.isEmpty()) {
            return;
        }
        page.line("One connection used, by two processes in turns, sample by sample, ns:");
        page.line("");
        page.line("| plugin | what | open | it takes | open | it takes | times |");
        page.line("|---|---|---|---|---|---|---|");
        for (Plugin plugin : few.get().plugins()) {
            for (Result alone : plugin.results()) {
                many.get().plugin(plugin.name()).stream()
                        .flatMap(same -> same.results().stream())
                        .filter(rests -> rests.question().equals(alone.question()))
                        .forEach(rests -> oneOfMany(plugin, alone, rests));
            }
        }
        page.line("");
    }

    private void oneOfMany(Plugin plugin, Result alone, Result rests) {
        double times = rests.onProcessor() / alone.onProcessor();
        String what = alone.bytes() < 0 ? TEST : "message of " + NetBench.size(alone.bytes());
        page.line("| %s | %s | %d | %s | %d | %s | %.2f |"
                .formatted(
                        plugin.name(),
                        what,
                        alone.comms(),
                        Budget.number(alone.onProcessor()),
                        rests.comms(),
                        Budget.number(rests.onProcessor()),
                        times));
        if (plugin.name().equals(Render.TRIGON)) {
            page.budget(Budget.atMost(
                    "growth, %s, one used: with %d connections, to %d".formatted(what, rests.comms(), alone.comms()),
                    times,
                    TOLERANCE,
                    "times"));
        }
    }

    /** A figure by the number of connections. */
    private static Map<Integer, Double> by(List<Result> grown, ToDoubleFunction<Result> figure) {
        Map<Integer, Double> figures = new LinkedHashMap<>();
        grown.forEach(at -> figures.put(at.comms(), figure.applyAsDouble(at)));
        return figures;
    }

    private void nodes() throws IOException {
        page.heading("Many nodes: `./trigon benchmarks nodes`");
        Map<String, Map<Integer, List<Double>>> passes = nodePasses();
        if (passes.isEmpty()) {
            return;
        }
        Map<Integer, Double> files = medians(passes, "readClusterFile");
        Map<Integer, Double> paths = medians(passes, "pathsToAllPeers");
        Map<Integer, Double> handshakes = medians(passes, "connectionsOfAllNodes");
        BarChart chart = new BarChart("By number of nodes, for each node", "ns");
        page.line("| nodes | cluster file, ns for each node | paths to all others, ns for each | handshakes of all"
                + " others with"
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

    /** For each node, by benchmark and number of nodes, one figure of each pass. */
    private Map<String, Map<Integer, List<Double>>> nodePasses() throws IOException {
        Map<String, Map<Integer, List<Double>>> passes = new LinkedHashMap<>();
        for (int pass = 1; pass == 1 || page.has(NODES.formatted(pass)); pass++) {
            for (JsonNode each : page.read(NODES.formatted(pass)).stream()
                    .flatMap(JsonNode::valueStream)
                    .toList()) {
                String benchmark = each.path("benchmark").asText();
                int nodes = each.path("params").path("nodes").asInt();
                JsonNode metric = each.path("primaryMetric");
                // of the iterations the median: a single slow second is the machine's
                double median = metric.path("scorePercentiles")
                        .path("50.0")
                        .asDouble(metric.path("score").asDouble());
                passes.computeIfAbsent(benchmark.substring(benchmark.lastIndexOf('.') + 1), _ -> new TreeMap<>())
                        .computeIfAbsent(nodes, _ -> new ArrayList<>())
                        .add(median / nodes);
            }
        }
        return passes;
    }

    private static Map<Integer, Double> medians(Map<String, Map<Integer, List<Double>>> passes, String benchmark) {
        Map<Integer, Double> medians = new TreeMap<>();
        passes.getOrDefault(benchmark, Map.of()).forEach((nodes, figures) -> {
            List<Double> sorted = figures.stream().sorted().toList();
            int half = sorted.size() / 2;
            medians.put(
                    nodes, sorted.size() % 2 == 1 ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2);
        });
        return medians;
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
