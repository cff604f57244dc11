package trigon.tools.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.tools.bench.Measurement.Kind;
import trigon.tools.console.Console;
import trigon.tools.console.Style;
import trigon.tools.console.Table;

/**
 * What {@code trigon bench} has to say.
 *
 * @param figures of perftest, of the same sizes
 * @param problems failures besides those of rows
 */
record BenchResult(
        RankNames names, List<BenchRow> rows, List<Perftest.Figures> figures, List<String> problems, Promise promise) {

    private static final String NOTHING = "-";

    BenchResult {
        rows = List.copyOf(rows);
        figures = List.copyOf(figures);
        problems = List.copyOf(problems);
    }

    /**
     * With what other nodes know and this one does not: figures that perftest says at one end only, and reasons.
     *
     * @param failures of ranks there, which are said unless a row has them
     */
    BenchResult with(List<JsonObject> others, List<String> failures) {
        List<JsonObject> theirs = others.stream()
                .flatMap(each -> each.objects("perftest").stream())
                .toList();
        List<String> all = new ArrayList<>(problems);
        failures.stream()
                .filter(each -> rows.stream().noneMatch(row -> row.failure().contains(each)))
                .forEach(all::add);
        return new BenchResult(
                names,
                rows.stream().map(row -> row.completed(others)).toList(),
                figures.stream().map(own -> own.completed(theirs)).toList(),
                all,
                promise);
    }

    /** Tells whether all was measured, and is as good as the links promise. */
    boolean isGood() {
        return promise.good() && problems.isEmpty() && rows.stream().noneMatch(BenchRow::hasFailed);
    }

    void print(Console console) {
        Table table = new Table(
                "test", names.nodes().isEmpty() ? "ranks" : "nodes", "size", "rounds", "us", "GB/s", "network");
        for (BenchRow row : rows) {
            table.styled(
                    row.hasFailed() ? Style.BAD : Style.STRONG,
                    row.step().kind().toString(),
                    who(row),
                    Sizes.text(row.step().bytes()),
                    row.measured().map(each -> Integer.toString(each.rounds())).orElse(NOTHING),
                    number("%.1f", row.measured().map(Measurement::micros)),
                    number("%.3f", row.measured().map(Measurement::gigabytesPerSecond)),
                    row.hasFailed()
                            ? "failed"
                            : row.networks().stream().map(Network::toString).collect(Collectors.joining("; ")));
        }
        table.print(console);
        console.out().println();
        if (!figures.isEmpty()) {
            printFigures(console);
        }
        ways().forEach(console::paragraph);
        console.paragraph("us: median. Point to point: one message each way at the same time, GB/s of one direction."
                + " All-reduce: bus bandwidth.");
        if (hasFailedOver()) {
            console.paragraph("A connection failed over during the measurement: measure again.");
        }
        bootstrapNote().ifPresent(console::paragraph);
        rows.stream()
                .filter(BenchRow::hasFailed)
                .forEach(row -> complain(console, who(row) + ": " + row.step() + ": " + row.failure()));
        problems.forEach(problem -> complain(console, problem));
        Style style = promise.good() ? Style.GOOD : Style.BAD;
        Table.wrap(promise.text(), console.width())
                .forEach(line -> console.out().println(console.styled(style, line)));
    }

    private String who(BenchRow row) {
        return row.step().kind() == Kind.POINT_TO_POINT ? names.of(row.step().ranks()) : "all " + names.count();
    }

    private static void complain(Console console, String text) {
        console.out()
                .println(console.styled(Style.BAD, "failed: ")
                        + text.lines().findFirst().orElse(""));
        text.lines().skip(1).forEach(line -> console.out().println("  " + line));
    }

    private Stream<String> ways() {
        return rows.stream().flatMap(row -> row.ways().stream()).distinct();
    }

    private boolean hasFailedOver() {
        return ways().anyMatch(way -> way.contains(" goes on over "));
    }

    /** Note on what is easily taken for a cable. */
    private Optional<String> bootstrapNote() {
        return rows.stream()
                .flatMap(row -> row.networks().stream())
                .filter(Network::bootstrap)
                .findFirst()
                .map(network -> "bootstrap: " + network.interfaceName() + " is the interface of NCCL_SOCKET_IFNAME, or"
                        + " without it the one to which the nodes' names lead. If a cable connects the nodes,"
                        + " NCCL_SOCKET_IFNAME=" + network.interfaceName() + " on all nodes keeps data off it.");
    }

    private void printFigures(Console console) {
        Table table = new Table("without Trigon", "size", "ib_write_lat us", "ib_write_bw GB/s");
        for (Perftest.Figures each : figures) {
            table.row(
                    names.of(each.ranks()),
                    Sizes.text(each.bytes()),
                    number("%.1f", each.latencyMicros()),
                    number("%.3f", each.gigabytesPerSecond()));
        }
        table.print(console);
        console.out().println();
    }

    private static String number(String format, OptionalDouble number) {
        return number.isPresent() ? String.format(Locale.ROOT, format, number.getAsDouble()) : "at the other end";
    }

    private static String number(String format, Optional<Double> number) {
        return number.map(value -> String.format(Locale.ROOT, format, value)).orElse(NOTHING);
    }

    /** In the schema {@code trigon.bench/1}, which {@code docs/reference/json.md} has. */
    Map<String, Object> json() {
        return Json.object(
                "nodes", names.nodes(),
                "good", isGood(),
                "verdict", promise.text(),
                "shareOfSpeed", promise.share(),
                "problems", problems,
                "ways", ways().toList(),
                "failedOver", hasFailedOver(),
                "perftest", figures,
                "measurements", rows.stream().map(BenchRow::json).toList());
    }
}
