package trigon.report.view;

import java.util.Map;
import trigon.report.path.Cause;
import trigon.report.summary.Amounts;
import trigon.report.summary.LinkRow;
import trigon.report.summary.OperationRow;
import trigon.report.summary.Report;
import trigon.report.view.TextTable.Look;
import trigon.system.PrintableText;

/** The report for a terminal. What it would obey, and not show, becomes a question mark: traces are others' files. */
public final class TerminalTable {

    private static final int WIDE = 120;

    private TerminalTable() {}

    /**
     * The report's tables and its verdict, as lines of text.
     *
     * @param width columns of the terminal; where there are few, some are left out
     */
    public static String of(Report report, int width) {
        StringBuilder text = new StringBuilder();
        operations(report).print(width, Look.PLAIN, line -> add(text, line));
        text.append('\n');
        (width < WIDE ? narrowLinks(report) : wideLinks(report)).print(width, Look.PLAIN, line -> add(text, line));
        text.append('\n');
        TextTable.wrap(PrintableText.of(report.verdict()), width).forEach(line -> add(text, line));
        report.run()
                .problems()
                .forEach(problem -> TextTable.wrap("note: " + PrintableText.of(problem), width)
                        .forEach(line -> add(text, line)));
        return text.toString();
    }

    private static void add(StringBuilder text, String line) {
        text.append(line).append('\n');
    }

    private static TextTable operations(Report report) {
        TextTable table =
                new TextTable("collective", "size", "algorithm", "count", "p50", "explained", "critical path");
        for (OperationRow row : report.operations()) {
            table.row(
                    row.name(),
                    Amounts.size(row.bytes()),
                    row.algorithm().isEmpty() ? "-" : row.algorithm(),
                    Integer.toString(row.count()),
                    Amounts.time(row.medianWall()),
                    Amounts.share(row.explained(), row.totalWall()),
                    causes(row));
        }
        return table;
    }

    private static TextTable wideLinks(Report report) {
        TextTable table = new TextTable(
                "direction",
                "messages",
                "bytes",
                "transport p50",
                "p99",
                "credit p50",
                "p99",
                "retransmitted",
                "clock",
                "links");
        for (LinkRow row : report.links()) {
            table.row(
                    row.direction(),
                    Long.toString(row.messages()),
                    Amounts.size(row.bytes()),
                    Amounts.time(row.transportMedian()),
                    Amounts.time(row.transportP99()),
                    Amounts.time(row.waitMedian()),
                    Amounts.time(row.waitP99()),
                    retransmissions(row),
                    clock(row.bound()),
                    row.links());
        }
        return table;
    }

    private static TextTable narrowLinks(Report report) {
        TextTable table = new TextTable("direction", "messages", "p50", "p99", "retransmitted", "clock", "links");
        for (LinkRow row : report.links()) {
            table.row(
                    row.direction(),
                    Long.toString(row.messages()),
                    Amounts.time(row.transportMedian()),
                    Amounts.time(row.transportP99()),
                    retransmissions(row),
                    clock(row.bound()),
                    row.links());
        }
        return table;
    }

    private static String retransmissions(LinkRow row) {
        return row.retransmissions() < 0 ? "-" : Long.toString(row.retransmissions());
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
}
