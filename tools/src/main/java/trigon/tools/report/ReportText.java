package trigon.tools.report;

import java.util.Map;
import trigon.report.path.Cause;
import trigon.report.summary.Amounts;
import trigon.report.summary.LinkRow;
import trigon.report.summary.OperationRow;
import trigon.report.summary.Report;
import trigon.system.PrintableText;
import trigon.tools.console.Console;
import trigon.tools.console.Table;

/** The report for a terminal. Control characters become question marks: traces are files of others. */
final class ReportText {

    private static final int WIDE = 120;

    /** Places of columns that a narrow terminal has no room for. */
    private static final int BYTES = 2;

    private static final int CREDIT_MEDIAN = 5;
    private static final int CREDIT_P99 = 6;

    private ReportText() {}

    /** Prints the report's tables and its verdict; in a narrow terminal without some columns. */
    static void print(Report report, Console to) {
        operations(report).print(to);
        to.out().println();
        Table links = links(report);
        (to.width() < WIDE ? links.without(BYTES, CREDIT_MEDIAN, CREDIT_P99) : links).print(to);
        to.out().println();
        paragraph(report.verdict(), to);
        report.run().problems().forEach(problem -> paragraph("note: " + problem, to));
    }

    private static void paragraph(String text, Console to) {
        to.paragraph(PrintableText.of(text));
    }

    private static Table operations(Report report) {
        Table table = new Table("collective", "size", "algorithm", "count", "p50", "explained", "critical path");
        for (OperationRow row : report.operations()) {
            table.row(
                    row.name(),
                    Amounts.size(row.bytes()),
                    row.algorithm().isEmpty() ? "-" : row.algorithm(),
                    row.count(),
                    Amounts.time(row.medianWall()),
                    Amounts.share(row.explained(), row.totalWall()),
                    causes(row));
        }
        return table;
    }

    private static Table links(Report report) {
        Table table = new Table(
                "direction", "messages", "bytes", "p50", "p99", "credit p50", "p99", "retransmitted", "clock", "links");
        for (LinkRow row : report.links()) {
            table.row(
                    row.direction(),
                    row.messages(),
                    Amounts.size(row.bytes()),
                    Amounts.time(row.transportMedian()),
                    Amounts.time(row.transportP99()),
                    Amounts.time(row.waitMedian()),
                    Amounts.time(row.waitP99()),
                    retransmissions(row),
                    Amounts.bound(row.bound()),
                    row.links());
        }
        return table;
    }

    private static String retransmissions(LinkRow row) {
        return row.retransmissions() < 0 ? "-" : Long.toString(row.retransmissions());
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
