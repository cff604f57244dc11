package trigon.tools.bench;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import trigon.tools.bench.Measurement.Kind;
import trigon.tools.console.Console;
import trigon.tools.console.Json;
import trigon.tools.console.JsonObject;
import trigon.tools.console.Style;
import trigon.tools.console.Table;
import trigon.tools.machine.Machine;

/**
 * What {@code trigon bench} has to say.
 *
 * @param figures of perftest, of the same sizes
 * @param ways that the connections took, as the plugin's log says
 */
record BenchResult(
        RankNames names,
        List<Measurement> measured,
        List<Perftest.Figures> figures,
        List<String> ways,
        Promise promise) {

    BenchResult {
        measured = List.copyOf(measured);
        figures = List.copyOf(figures);
        ways = List.copyOf(ways);
    }

    /** With what other nodes know and this one does not: figures that perftest says at one end only. */
    BenchResult with(List<JsonObject> others) {
        List<JsonObject> theirs = others.stream()
                .flatMap(each -> each.objects("perftest").stream())
                .toList();
        return new BenchResult(
                names,
                measured,
                figures.stream().map(own -> own.completed(theirs)).toList(),
                ways,
                promise);
    }

    void print(Console console) {
        Table table = new Table("test", names.nodes().isEmpty() ? "ranks" : "nodes", "size", "rounds", "us", "GB/s");
        for (Measurement each : measured) {
            table.row(
                    each.kind().toString(),
                    each.kind() == Kind.POINT_TO_POINT ? names.of(each.ranks()) : "all " + names.count(),
                    Sizes.text(each.bytes()),
                    Integer.toString(each.rounds()),
                    String.format(Locale.ROOT, "%.1f", each.micros()),
                    String.format(Locale.ROOT, "%.3f", each.gigabytesPerSecond()));
        }
        table.print(console);
        console.out().println();
        if (!figures.isEmpty()) {
            printFigures(console);
        }
        ways.forEach(way -> Table.wrap(way, console.width()).forEach(console.out()::println));
        Table.wrap(
                        "us: median. Point to point: one message each way at the same time, GB/s of one direction."
                                + " All-reduce: bus bandwidth.",
                        console.width())
                .forEach(console.out()::println);
        if (hasFailedOver()) {
            console.out().println("A connection failed over during the measurement: measure again.");
        }
        Style style = promise.good() ? Style.GOOD : Style.BAD;
        Table.wrap(promise.text(), console.width())
                .forEach(line -> console.out().println(console.styled(style, line)));
    }

    private boolean hasFailedOver() {
        return ways.stream().anyMatch(way -> way.contains(" goes on over "));
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

    /** In the schema {@code trigon.bench/1}, which {@code docs/reference/json.md} has. */
    Map<String, Object> json(Machine machine) {
        return machine.document(
                "trigon.bench/1",
                "nodes",
                names.nodes(),
                "good",
                promise.good(),
                "verdict",
                promise.text(),
                "shareOfSpeed",
                promise.share(),
                "ways",
                ways,
                "failedOver",
                hasFailedOver(),
                "perftest",
                figures,
                "measurements",
                measured.stream().map(BenchResult::json).toList());
    }

    private static Map<String, Object> json(Measurement each) {
        return Json.object(
                "test",
                each.kind().toString(),
                "ranks",
                each.ranks(),
                "bytes",
                each.bytes(),
                "rounds",
                each.rounds(),
                "medianMicros",
                each.micros(),
                "gigabytesPerSecond",
                each.gigabytesPerSecond(),
                "wrong",
                each.wrong());
    }
}
