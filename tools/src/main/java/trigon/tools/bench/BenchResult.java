package trigon.tools.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.MachineLinks;
import trigon.tools.console.Console;
import trigon.tools.console.Style;
import trigon.tools.console.Table;
import trigon.tools.console.UserFiles;

/**
 * The result of {@code trigon bench}, as text and as JSON.
 *
 * @param nodes by rank; empty if they are unknown
 * @param figures of perftest, of the same sizes
 * @param problems failures besides those of rows
 */
record BenchResult(
        List<String> nodes,
        List<BenchRow> rows,
        List<Perftest.Figures> figures,
        List<String> problems,
        Verdict verdict) {

    private static final String NOTHING = "-";

    /**
     * Adds what other nodes know and this one does not: figures that perftest says at one end only, and reasons.
     *
     * @param failures of ranks there, which are added unless a row has them
     */
    BenchResult with(List<JsonObject> others, List<String> failures) {
        List<Perftest.Figures> theirs = others.stream()
                .flatMap(each -> each.objects("perftest").stream())
                .map(each -> each.as(Perftest.Figures.class))
                .toList();
        List<String> all = new ArrayList<>(problems);
        failures.stream()
                .filter(each -> rows.stream().noneMatch(row -> row.failure().contains(each)))
                .forEach(all::add);
        return new BenchResult(
                nodes,
                rows.stream().map(row -> row.completed(others)).toList(),
                figures.stream().map(own -> own.completed(theirs)).toList(),
                all,
                verdict);
    }

    /** Tells whether all was measured, and is as good as the links promise. */
    boolean isGood() {
        return verdict.good() && problems.isEmpty() && rows.stream().noneMatch(BenchRow::hasFailed);
    }

    void print(Console console) {
        Table table = new Table(
                "test", nodes.isEmpty() ? "ranks" : "nodes", "size", "rounds", "us", "GB/s", "p99 us", "network");
        for (BenchRow row : rows) {
            boolean failed = row.hasFailed();
            table.styled(
                    failed ? Style.BAD : Style.STRONG,
                    row.step().test(),
                    row.step().who(nodes),
                    BenchStep.sizeText(row.step().bytes()),
                    failed ? NOTHING : row.rounds().size(),
                    failed ? NOTHING : number("%.1f", row.micros()),
                    failed ? NOTHING : number("%.3f", row.gigabytesPerSecond()),
                    failed ? NOTHING : number("%.1f", row.p99Micros()),
                    failed
                            ? "failed"
                            : row.networks().stream().map(Network::toString).collect(Collectors.joining("; ")));
        }
        table.print(console);
        console.out().println();
        if (!figures.isEmpty()) {
            printFigures(console);
        }
        ways().forEach(console::paragraph);
        console.paragraph("us: median; p99: 99 of 100 take no longer. Point to point: one message each way at the"
                + " same time, GB/s of one direction. All-reduce: bus bandwidth. Decode: one of "
                + BenchStep.ALL_REDUCES_OF_A_STEP + " all-reduces in a row, which make a round.");
        if (hasFailedOver()) {
            console.paragraph("A connection failed over during the measurement: measure again.");
        }
        bootstrapNote().ifPresent(console::paragraph);
        rows.stream()
                .filter(BenchRow::hasFailed)
                .forEach(row -> complain(console, row.step().who(nodes) + ": " + row.step() + ": " + row.failure()));
        problems.forEach(problem -> complain(console, problem));
        console.paragraph(verdict.good() ? Style.GOOD : Style.BAD, verdict.text());
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

    boolean hasFailedOver() {
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
                    BenchStep.names(each.ranks(), nodes),
                    BenchStep.sizeText(each.bytes()),
                    each.latencyMicros().map(micros -> number("%.1f", micros)).orElse("at the other end"),
                    each.gigabytesPerSecond()
                            .map(speed -> number("%.3f", speed))
                            .orElse("at the other end"));
        }
        table.print(console);
        console.out().println();
    }

    private static String number(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }

    /** In the schema {@code trigon.bench/1}, which {@code docs/reference/json.md} has. */
    Map<String, Object> json() {
        return Json.object(
                "nodes", nodes,
                "good", isGood(),
                "verdict", verdict.text(),
                "shareOfSpeed", verdict.share(),
                "problems", problems,
                "ways", ways().toList(),
                "failedOver", hasFailedOver(),
                "perftest", figures,
                "measurements", rows.stream().map(BenchRow::json).toList());
    }

    /** Writes the file that can be shown to others. */
    void submit(Machine machine, Path file) {
        NodeFacts node = NodeFacts.of(machine, MachineLinks.of(machine));
        UserFiles.write(file, Json.text(Submission.of(machine, node, this)));
    }
}
