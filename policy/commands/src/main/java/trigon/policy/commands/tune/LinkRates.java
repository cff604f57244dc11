package trigon.policy.commands.tune;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;
import trigon.tools.TrigonProgram;
import trigon.tools.console.Console;
import trigon.tools.console.Table;
import trigon.tools.nodes.ReachOptions;

/** Facts of 1, 2 and 4 connections at once, as {@code trigon bench} measures them. */
final class LinkRates {

    private static final long SHORT = 64;
    private static final long LONG = 16 << 20;
    private static final List<Integer> CHANNELS = List.of(1, 2, 4);

    private final Machine machine;
    private final Console console;

    LinkRates(Machine machine, Console console) {
        this.machine = machine;
        this.console = console;
    }

    /** Runs it between these nodes, or between two processes of this machine, and prints a row for each number. */
    int measure(List<String> nodes, ReachOptions reach) {
        List<String> words = new ArrayList<>(List.of("bench", "--json", "--sizes", SHORT + "," + LONG));
        words.addAll(
                List.of("--channels", CHANNELS.stream().map(String::valueOf).collect(Collectors.joining(","))));
        if (!nodes.isEmpty()) {
            words.addAll(List.of("--nodes", String.join(",", nodes)));
            words.addAll(reach.words());
        }
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        Console inner = new Console(
                new PrintStream(output, true, StandardCharsets.UTF_8),
                console.err(),
                false,
                console.progress(),
                console.width());
        int status = TrigonProgram.run(machine, inner, words.toArray(String[]::new));
        String text = output.toString(StandardCharsets.UTF_8);
        if (!text.startsWith("{")) {
            return status; // it has said why
        }
        return print(JsonObject.parse(text));
    }

    private int print(JsonObject result) {
        Map<String, Map<Integer, Map<Long, JsonObject>>> pairs = new TreeMap<>();
        List<JsonObject> failed = new ArrayList<>();
        for (JsonObject row : result.objects("measurements")) {
            if (!row.text("failed").isEmpty()) {
                failed.add(row);
            } else if (row.text("test").equals("point-to-point")) {
                pairs.computeIfAbsent(names(row, result.texts("nodes")), _ -> new TreeMap<>())
                        .computeIfAbsent((int) row.whole("channels"), _ -> new TreeMap<>())
                        .put(row.whole("bytes"), row);
            }
        }
        Table table = new Table("between", "connections", "us for 64 B", "GB/s of one", "GB/s of all");
        pairs.forEach((names, byChannels) -> byChannels.forEach((channels, bySize) -> table.row(
                names,
                channels,
                number("%.1f", bySize.get(SHORT), "medianMicros", 1),
                number("%.3f", bySize.get(LONG), "gigabytesPerSecond", channels),
                number("%.3f", bySize.get(LONG), "gigabytesPerSecond", 1))));
        table.print(console);
        failed.forEach(row -> console.note("%s: %s".formatted(names(row, result.texts("nodes")), row.text("failed"))));
        return failed.isEmpty() ? 0 : 1;
    }

    private static String names(JsonObject row, List<String> nodes) {
        return row.numbers("ranks").stream()
                .map(rank -> nodes.isEmpty() ? String.valueOf(rank.intValue()) : nodes.get(rank.intValue()))
                .collect(Collectors.joining(" and "));
    }

    private static String number(String format, @Nullable JsonObject row, String key, int parts) {
        return row == null
                ? "-"
                : String.format(Locale.ROOT, format, row.number(key).orElse(0.0) / parts);
    }
}
