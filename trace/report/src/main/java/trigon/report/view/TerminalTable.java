package trigon.report.view;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import trigon.report.path.Cause;
import trigon.report.summary.Amounts;
import trigon.report.summary.LinkRow;
import trigon.report.summary.OperationRow;
import trigon.report.summary.Report;
import trigon.system.PrintableText;

/** The report for a terminal. What it would obey, and not show, becomes a question mark: traces are others' files. */
public final class TerminalTable {

    private TerminalTable() {}

    /** The report's tables, as lines of text. */
    public static String of(Report report) {
        StringBuilder text = new StringBuilder();
        List<List<String>> operations = new ArrayList<>();
        operations.add(List.of("collective", "size", "algorithm", "count", "wall p50", "explained", "critical path"));
        for (OperationRow row : report.operations()) {
            operations.add(List.of(
                    row.name(),
                    Amounts.size(row.bytes()),
                    row.algorithm().isEmpty() ? "-" : row.algorithm(),
                    Integer.toString(row.count()),
                    Amounts.time(row.medianWall()),
                    Amounts.share(row.explained(), row.totalWall()),
                    causes(row)));
        }
        append(text, operations);
        text.append('\n');
        List<List<String>> links = new ArrayList<>();
        links.add(List.of(
                "direction",
                "links",
                "messages",
                "bytes",
                "transport p50",
                "p99",
                "credit p50",
                "p99",
                "retransmitted",
                "clock"));
        for (LinkRow row : report.links()) {
            links.add(List.of(
                    row.direction(),
                    row.links(),
                    Long.toString(row.messages()),
                    Amounts.size(row.bytes()),
                    Amounts.time(row.transportMedian()),
                    Amounts.time(row.transportP99()),
                    Amounts.time(row.waitMedian()),
                    Amounts.time(row.waitP99()),
                    row.retransmissions() < 0 ? "-" : Long.toString(row.retransmissions()),
                    clock(row.bound())));
        }
        append(text, links);
        text.append('\n').append(PrintableText.of(report.verdict())).append('\n');
        report.run()
                .problems()
                .forEach(problem ->
                        text.append("note: ").append(PrintableText.of(problem)).append('\n'));
        return text.toString();
    }

    /** How exact a one-way time is. */
    static String clock(long bound) {
        return bound == 0 ? "same" : bound < 0 ? "unknown" : "±" + Amounts.time(bound);
    }

    private static String causes(OperationRow row) {
        StringBuilder text = new StringBuilder();
        row.byCause().entrySet().stream()
                .filter(entry -> entry.getValue() > 0)
                .sorted(Map.Entry.<Cause, Long>comparingByValue().reversed())
                .forEach(entry -> text.append(text.isEmpty() ? "" : ", ")
                        .append(entry.getKey().word())
                        .append(' ')
                        .append(Amounts.share(entry.getValue(), row.totalWall())));
        return text.toString();
    }

    private static void append(StringBuilder text, List<List<String>> rows) {
        int columns = rows.getFirst().size();
        int[] widths = new int[columns];
        List<List<String>> shown = rows.stream()
                .map(row -> row.stream().map(PrintableText::of).toList())
                .toList();
        for (List<String> row : shown) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        for (List<String> row : shown) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                line.append(row.get(i)).append(" ".repeat(widths[i] - row.get(i).length() + 2));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
    }
}
