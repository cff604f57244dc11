package trigon.policy.commands.tune;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import trigon.tools.console.Console;
import trigon.tools.console.Table;

/** The result of a tuned program, for a terminal. */
final class TuneText {

    private TuneText() {}

    /** Says that there is no result; returns the exit status. */
    static int nothing(TracedRun first, Console to) {
        to.paragraph("Nothing was written: no choice was faster by enough, in %d collectives."
                .formatted(first.samples().stream().mapToInt(Sample::count).sum()));
        if (first.isOfOneChoice()) {
            to.paragraph("Each collective was run in one way only, as if the policy had not been loaded, or"
                    + " NCCL_ALGO and NCCL_PROTO left no choice. NCCL_DEBUG=INFO names the policy.");
        }
        return 0;
    }

    /** Prints the rows of a table, and how to use its file. */
    static void print(List<Row> rows, Path file, Console to) {
        Table table = new Table("collective", "ranks", "nodes", "bytes", "usual", "us", "now", "us", "gain");
        for (Row row : rows) {
            table.row(
                    row.what().name(),
                    row.what().ranks(),
                    row.what().nodes(),
                    row.what().minBytes(),
                    row.usual(),
                    micros(row.usualNanos()),
                    row.choice(),
                    micros(row.nanos()),
                    String.format(Locale.ROOT, "%.0f %%", row.gain()));
        }
        table.print(to);
        to.out().println();
        to.paragraph("The last number of a choice is that of its channels. %s has these choices; use it on all nodes:"
                .formatted(file));
        to.out().println();
        to.out().println("    export TRIGON_POLICY=" + file);
        to.out().println();
        to.paragraph("or, in the cluster file:");
        to.out().println();
        to.out().println("    policy: {file: " + file + "}");
    }

    private static String micros(long nanos) {
        return String.format(Locale.ROOT, "%.0f", nanos / 1e3);
    }
}
