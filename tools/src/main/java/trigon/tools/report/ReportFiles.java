package trigon.tools.report;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import trigon.report.summary.Report;
import trigon.report.view.HtmlPage;
import trigon.report.view.JsonLines;
import trigon.report.view.PerfettoTrace;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.UserFiles;

/** The files that a report can be written to; options of a command. */
final class ReportFiles {

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "A self-contained page: tables, a heat map of the links, timelines.")
    private @Nullable Path html;

    @Option(names = "--perfetto", paramLabel = "FILE", description = "A trace for ui.perfetto.dev.")
    private @Nullable Path perfetto;

    @Option(names = "--json", paramLabel = "FILE", description = "Everything, as one JSON object per line.")
    private @Nullable Path json;

    /** A page with that name, where none was asked for. */
    void htmlUnlessNamed(Path page) {
        if (html == null) {
            html = page;
        }
    }

    /**
     * Writes those that were asked for.
     *
     * @param version of this program
     * @throws CommandFailure if one cannot be written
     */
    void write(Report report, String version) {
        if (html != null) {
            UserFiles.write(html, HtmlPage.of(report, "Trigon " + version));
        }
        if (perfetto != null) {
            UserFiles.write(perfetto, to -> PerfettoTrace.write(report, to));
        }
        if (json != null) {
            UserFiles.write(json, to -> JsonLines.write(report, to));
        }
    }
}
