package trigon.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import trigon.benchmarks.NetBench.Plugin;
import trigon.benchmarks.NetBench.Result;

/**
 * Writes {@code results.md} and plots from the JSON files of a folder; what was not measured is said to be missing.
 * Arguments: the folder with the results, the folder to write to.
 */
final class Render {

    static final String TRIGON = "Trigon";

    /** The plugin that is nothing but work requests. */
    static final String DEVICE_ALONE = "device alone";

    /** What testing/benchmarks/nccl-ib makes a plugin of calls itself. */
    private static final String NCCL = "IB";

    private final Path results;
    private final Path target;
    private final ObjectMapper mapper = new ObjectMapper();
    private final List<String> page = new ArrayList<>();
    private final List<Budget> budgets = new ArrayList<>();

    private Render(Path results, Path target) {
        this.results = results;
        this.target = target;
    }

    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 2) {
            throw new IllegalArgumentException("needs the folder of the results and the folder to write to");
        }
        new Render(Path.of(arguments[0]), Path.of(arguments[1])).render();
    }

    private void render() throws IOException {
        Files.createDirectories(target);
        instant();
        new Growth(this).render();
        links();
        new Steady(this).render();
        lab();
        jmh();
        List<String> head = new ArrayList<>(List.of(
                "# Benchmark results",
                "",
                "Made by `./trigon benchmarks render`; how each is measured is in [benchmarks.md](../benchmarks.md).",
                "",
                "## Budgets",
                "",
                "| what | measured | budget | met |",
                "|---|---|---|---|"));
        budgets.stream().map(Budget::row).forEach(head::add);
        head.addAll(page);
        Files.write(target.resolve("results.md"), head);
    }

    private void instant() throws IOException {
        heading("Instant device: `./trigon benchmarks instant`");
        Optional<JsonNode> json = read("instant.json");
        if (json.isEmpty()) {
            return;
        }
        NetBench run = NetBench.of(json.get());
        describe(run);
        read("instant-floor.json").ifPresent(this::operations);
        table(run);
        BarChart chart = new BarChart("A message, both ends in one process, instant device", "ns");
        for (Plugin plugin : run.plugins()) {
            for (Result result : plugin.results()) {
                if (result.question().equals("message") && result.window() == 1) {
                    chart.add(NetBench.size(result.bytes()), plugin.name(), result.onProcessor());
                } else if (result.question().equals("test_empty")) {
                    chart.add("empty test()", plugin.name(), result.onProcessor());
                }
            }
        }
        plot("instant.svg", chart);
        connections(run, "instant-connections.svg", "instant device");
        run.plugin(TRIGON).ifPresent(trigon -> {
            budget(trigon, "message", 8, "instant device, message of 8 B", 350, "ns");
            shortMessageBudget(run, trigon);
            longMessageBudget(run, trigon);
            budget(trigon, "test_empty", -1, "instant device, `test()` that finds nothing", 35, "ns");
            budget(
                    trigon,
                    "isend_without_receive",
                    -1,
                    "instant device, `isend()` before the receive is there",
                    35,
                    "ns");
            budget(trigon, "connect", -1, "instant device, warm connection, both ends", 2000, "us");
            run.plugin(DEVICE_ALONE).ifPresent(alone -> new Sizes(this).render(trigon, alone));
        });
    }

    /** The same as the one in ns, where a machine's clock says nothing. */
    private void shortMessageBudget(NetBench run, Plugin trigon) {
        run.plugin(NCCL)
                .flatMap(nccl -> nccl.find("message", 1, 8))
                .ifPresent(other -> trigon.find("message", 1, 8)
                        .ifPresent(result -> budgets.add(Budget.atMost(
                                "instant device, message of 8 B, to NCCL's own IB transport",
                                result.onProcessor() / other.onProcessor(),
                                2,
                                "times"))));
    }

    /** To NCCL's own transport where that was measured too, or else to the device alone, which is stricter. */
    private void longMessageBudget(NetBench run, Plugin trigon) {
        Optional<Result> nccl = run.plugin(NCCL).flatMap(plugin -> plugin.find("message", 1, 65536));
        Optional<Result> reference =
                nccl.or(() -> run.plugin(DEVICE_ALONE).flatMap(plugin -> plugin.find("message", 1, 65536)));
        String to = nccl.isPresent() ? "NCCL's own IB transport" : "the device alone";
        trigon.find("message", 1, 65536)
                .ifPresent(result -> reference.ifPresent(other -> budgets.add(Budget.atMost(
                        "instant device, message of 64 KiB, to " + to,
                        result.onProcessor() / other.onProcessor(),
                        1.10,
                        "times"))));
    }

    private void operations(JsonNode floor) {
        page.add("Single operations of the device (verbs-floor), ns:");
        page.add("");
        page.add("| operation | bytes | median |");
        page.add("|---|---|---|");
        for (JsonNode each : floor.path("results")) {
            page.add("| %s | %d | %s |"
                    .formatted(
                            each.path("operation").asText(),
                            each.path("bytes").asLong(),
                            Budget.number(each.path("median").asDouble())));
        }
        page.add("");
    }

    private void socketOperations(JsonNode floor) {
        page.add("A TCP connection without anything on top (socket-floor), each call by itself, ns:");
        page.add("");
        page.add("| operation | bytes | median | 99 % | 99.9 % |");
        page.add("|---|---|---|---|---|");
        for (JsonNode each : floor.path("results")) {
            page.add("| %s | %d | %s | %s | %s |"
                    .formatted(
                            each.path("operation").asText(),
                            each.path("bytes").asLong(),
                            Budget.number(each.path("median").asDouble()),
                            Budget.number(each.path("p99").asDouble()),
                            Budget.number(each.path("p99_9").asDouble())));
        }
        page.add("");
    }

    private void links() throws IOException {
        heading("Software links, loopback: `./trigon benchmarks links`");
        Optional<JsonNode> json = read("links.json");
        if (json.isEmpty()) {
            return;
        }
        NetBench run = NetBench.of(json.get());
        describe(run);
        read("links-floor.json").ifPresent(this::socketOperations);
        table(run);
        connections(run, "links-connections.svg", "software links");
        run.plugin(TRIGON)
                .ifPresent(trigon ->
                        budget(trigon, "connect", -1, "software links, warm connection, both ends", 2000, "us"));
    }

    /** How long connections take from the first on, until they are warm. */
    private void connections(NetBench run, String file, String where) throws IOException {
        BarChart chart = new BarChart("A connection, both ends, by seconds of connecting, " + where, "us");
        for (Plugin plugin : run.plugins()) {
            plugin.find("connect_early", 0, -1).ifPresent(early -> {
                double seconds = 0;
                for (JsonNode median : early.all().path("span_medians")) {
                    seconds += early.number("span_seconds");
                    chart.add("%.0f s".formatted(seconds), plugin.name(), median.asDouble());
                }
            });
            plugin.find("connect", 0, -1)
                    .filter(warm -> !warm.all().path("warm").asBoolean(true))
                    .ifPresent(_ -> line(plugin.name()
                            + ": connections still became faster when they were timed, so the figure"
                            + " of warm ones is too high."));
        }
        plot(file, chart);
    }

    private void lab() throws IOException {
        heading("SoftRoCE in the lab: `./trigon benchmarks lab`");
        Optional<JsonNode> json = read("lab.json");
        if (json.isEmpty()) {
            return;
        }
        JsonNode lab = json.get();
        page.add(("In one boot of an emulated machine, two processes over one pair of devices: compare within a line"
                        + " only."
                        + " Rounds: %d; the host's load at the end: %s.")
                .formatted(lab.path("rounds").asInt(), lab.path("load").asText("not known")));
        page.add("");
        page.add("| what | Trigon | its work requests alone | perftest |");
        page.add("|---|---|---|---|");
        JsonNode latency = lab.path("latency");
        double ours = latency.path("trigon_us").asDouble();
        double theirs = latency.path("ib_write_lat_us").asDouble();
        page.add("| half a round trip of 8 B, the best, us | %s | %s | %s |"
                .formatted(
                        Budget.number(ours),
                        Budget.number(latency.path("verbs_us").asDouble(Double.NaN)),
                        Budget.number(theirs)));
        page.add("| the same with a work request for each clear-to-send entry, us | | %s | |"
                .formatted(Budget.number(latency.path("verbs_one_entry_us").asDouble(Double.NaN))));
        budgets.add(Budget.atMost(
                "SoftRoCE, half a round trip of 8 B, the best, to `ib_write_lat`", ours / theirs, 1.15, "times"));
        for (JsonNode bandwidth : lab.path("bandwidth")) {
            String size = NetBench.size(bandwidth.path("bytes").asLong());
            double trigon = bandwidth.path("trigon_mb_per_second").asDouble();
            double perftest = bandwidth.path("ib_write_bw_mb_per_second").asDouble();
            page.add("| bandwidth at %s, median, MB/s | %s | %s | %s |"
                    .formatted(
                            size,
                            Budget.number(trigon),
                            Budget.number(bandwidth.path("verbs_mb_per_second").asDouble(Double.NaN)),
                            Budget.number(perftest)));
            page.add("| the best round | %s | %s | %s |"
                    .formatted(
                            number(bandwidth, "trigon_best_mb_per_second"),
                            number(bandwidth, "verbs_best_mb_per_second"),
                            number(bandwidth, "ib_write_bw_best_mb_per_second")));
            page.add("| median, with a receiver that sleeps as perftest's | %s | %s | |"
                    .formatted(
                            number(bandwidth, "trigon_asleep_mb_per_second"),
                            number(bandwidth, "verbs_asleep_mb_per_second")));
            page.add("| the best round | %s | %s | |"
                    .formatted(
                            number(bandwidth, "trigon_asleep_best_mb_per_second"),
                            number(bandwidth, "verbs_asleep_best_mb_per_second")));
            budgets.add(Budget.atLeast(
                    "SoftRoCE, bandwidth at " + size + ", to `ib_write_bw`", trigon / perftest, 0.95, "times"));
            double asleep = bandwidth.path("trigon_asleep_mb_per_second").asDouble(Double.NaN);
            if (Double.isNaN(asleep)) {
                continue; // measured by an older program
            }
            budgets.add(Budget.atLeast(
                    "SoftRoCE, bandwidth at " + size + " with a receiver that sleeps, as `ib_write_bw`'s",
                    asleep / perftest,
                    0.95,
                    "times"));
        }
        page.add("");
    }

    private static String number(JsonNode bandwidth, String field) {
        return Budget.number(bandwidth.path(field).asDouble(Double.NaN));
    }

    private void jmh() throws IOException {
        heading("Parts: `./trigon benchmarks jmh`");
        Optional<JsonNode> json = read("jmh.json");
        if (json.isEmpty()) {
            return;
        }
        page.add("| benchmark | parameters | " + "ns | +- |");
        page.add("|---|---|---|---|");
        for (JsonNode each : json.get()) {
            String name = each.path("benchmark").asText();
            String parameters =
                    each.has("params") ? each.path("params").toString().replace("\"", "") : "";
            JsonNode metric = each.path("primaryMetric");
            page.add("| %s | %s | %s | %s |"
                    .formatted(
                            name.substring(name.lastIndexOf('.', name.lastIndexOf('.') - 1) + 1),
                            parameters,
                            Budget.number(metric.path("score").asDouble()),
                            Budget.number(metric.path("scoreError").asDouble(Double.NaN))));
        }
        page.add("");
    }

    void describe(NetBench run) {
        page.add("%s. RDMA devices and their drivers: %s.".formatted(run.machine(), run.drivers()));
        JsonNode jvm = run.jvm();
        if (jvm.isObject()) {
            page.add("The JVM stopped %d times, the longest %s ms; once all was compiled %d times, the longest %s ms."
                    .formatted(
                            jvm.path("pauses").asInt(),
                            Budget.number(jvm.path("longest_ns").asDouble() / 1e6),
                            jvm.path("pauses_while_measuring").asInt(),
                            Budget.number(jvm.path("longest_while_measuring_ns").asDouble() / 1e6)));
        }
        page.add("");
    }

    private void table(NetBench run) {
        page.add("| plugin | what | unit | median | on the processor | 10 % | 90 % |");
        page.add("|---|---|---|---|---|---|---|");
        for (Plugin plugin : run.plugins()) {
            for (Result result : plugin.results()) {
                if (!Double.isNaN(result.median())) {
                    page.add("| %s | %s | %s | %s | %s | %s | %s |"
                            .formatted(
                                    plugin.name(),
                                    result.words(),
                                    result.unit(),
                                    Budget.number(result.median()),
                                    result.all().has("processor_median")
                                            ? Budget.number(result.number("processor_median"))
                                            : "",
                                    Budget.number(result.number("p10")),
                                    Budget.number(result.number("p90"))));
                }
            }
        }
        page.add("");
        page.add("Single calls of `test()` while messages move, ns, each with the clock's own share:");
        page.add("");
        page.add("| plugin | calls | 50 % | 99 % | 99.9 % | 99.99 % | longest |");
        page.add("|---|---|---|---|---|---|---|");
        for (Plugin plugin : run.plugins()) {
            plugin.find("test_call", 1, -1)
                    .ifPresent(result -> page.add("| %s | %s | %s | %s | %s | %s | %s |"
                            .formatted(
                                    plugin.name(),
                                    Budget.number(result.number("calls")),
                                    Budget.number(result.number("p50")),
                                    Budget.number(result.number("p99")),
                                    Budget.number(result.number("p99_9")),
                                    Budget.number(result.number("p99_99")),
                                    Budget.number(result.number("max")))));
        }
        page.add("");
    }

    private void budget(Plugin plugin, String question, long bytes, String what, double limit, String unit) {
        plugin.results().stream()
                .filter(result -> result.question().equals(question)
                        && (bytes < 0 || (result.bytes() == bytes && result.window() == 1)))
                .findFirst()
                .ifPresent(result -> budgets.add(Budget.atMost(what, result.onProcessor(), limit, unit)));
    }

    void line(String text) {
        page.add(text);
    }

    void budget(Budget budget) {
        budgets.add(budget);
    }

    void heading(String text) {
        page.add("");
        page.add("## " + text);
        page.add("");
    }

    void plot(String file, BarChart chart) throws IOException {
        if (!chart.isEmpty()) {
            Files.writeString(target.resolve(file), chart.svg());
            page.add("![](%s)".formatted(file));
            page.add("");
        }
    }

    /** Whether it was measured. */
    boolean has(String name) {
        return Files.exists(results.resolve(name));
    }

    Optional<JsonNode> read(String name) throws IOException {
        Path file = results.resolve(name);
        if (Files.notExists(file)) {
            page.add("Not measured: there is no `" + name + "`.");
            page.add("");
            return Optional.empty();
        }
        return Optional.of(mapper.readTree(file.toFile()));
    }
}
