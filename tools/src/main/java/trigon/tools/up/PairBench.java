package trigon.tools.up;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import trigon.cluster.json.JsonObject;
import trigon.system.PrintableText;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.Table;

/** Measures every two nodes, and an all-reduce of all, by the plugin of each node. Every element is checked. */
final class PairBench {

    private static final String SIZE = "1M";
    private static final int SECONDS = 60;

    private final Nodes nodes;
    private final SharedNetwork shared;

    PairBench(Nodes nodes, SharedNetwork shared) {
        this.nodes = nodes;
        this.shared = shared;
    }

    /**
     * A row of the result.
     *
     * @param who the nodes
     * @param over networks that carried it
     * @param failure the reason; empty if it was measured
     */
    record Row(String test, String who, String over, double gigabytesPerSecond, String failure) {}

    /**
     * Measures.
     *
     * @throws CommandFailure if a pair carries no data, or wrong data
     */
    List<Row> run() {
        List<String> addresses = nodes.names().stream()
                .map(node -> shared.addresses().getOrDefault(node, ""))
                .toList();
        Map<String, JsonObject> results =
                nodes.each(node -> result(node, addresses)).all();
        List<Row> rows = new ArrayList<>();
        for (int rank = 0; rank < nodes.names().size(); rank++) {
            int own = rank;
            JsonObject result = results.getOrDefault(nodes.names().get(rank), JsonObject.EMPTY);
            result.objects("measurements").stream()
                    .filter(row -> row.numbers("ranks").stream().findFirst().orElse(-1.0) == own)
                    .forEach(row -> rows.add(row(row)));
        }
        List<String> failures = rows.stream()
                .filter(row -> !row.failure().isEmpty())
                .map(row -> "%s: %s: %s; look with trigon doctor".formatted(row.who(), row.test(), row.failure()))
                .toList();
        if (!failures.isEmpty()) {
            throw new CommandFailure(String.join("\n", failures));
        }
        int pairs = addresses.size() * (addresses.size() - 1) / 2;
        if (rows.size() != pairs + 1) {
            throw new CommandFailure(
                    "%d of %d measurements have a result; look with trigon doctor".formatted(rows.size(), pairs + 1));
        }
        return rows;
    }

    /** The nodes run it as the user who logs in, as jobs do. */
    private JsonObject result(String node, List<String> addresses) throws IOException {
        int rank = nodes.names().indexOf(node);
        NodeShell.Answer answer = nodes.shell()
                .run(
                        node,
                        false,
                        "exec %s bench --json --pairs %s --rank %d --sizes %s --timeout %d"
                                .formatted(Installation.PROGRAM, String.join(",", addresses), rank, SIZE, SECONDS),
                        NodeShell.Input.NONE);
        try {
            return JsonObject.parse(answer.out());
        } catch (IllegalArgumentException _) {
            throw new CommandFailure("no result of trigon bench: %s; run it there".formatted(answer.complaint()));
        }
    }

    private Row row(JsonObject row) {
        List<Double> ranks = row.numbers("ranks");
        String who = ranks.size() == 2 ? name(ranks.get(0)) + " and " + name(ranks.get(1)) : "all " + ranks.size();
        String failure = row.whole("wrong") > 0 ? row.whole("wrong") + " elements were wrong" : row.text("failed");
        String over = String.join(
                ", ",
                row.objects("networks").stream()
                        .map(each -> each.text("link"))
                        .distinct()
                        .toList());
        return new Row(
                PrintableText.of(row.text("test")),
                who,
                PrintableText.of(over),
                row.number("gigabytesPerSecond").orElse(0.0),
                PrintableText.of(failure.replace("\n", "; ")));
    }

    private String name(double rank) {
        return rank >= 0 && rank < nodes.names().size() ? nodes.names().get((int) rank) : "?";
    }

    /** Prints the rows. */
    static void print(List<Row> rows, Console console) {
        Table table = new Table("test", "nodes", "GB/s", "network");
        rows.forEach(row -> table.row(
                row.test(), row.who(), String.format(Locale.ROOT, "%.2f", row.gigabytesPerSecond()), row.over()));
        table.print(console);
    }
}
