package trigon.tools.report;

import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import trigon.report.model.Collective;
import trigon.report.summary.Report;
import trigon.report.view.HtmlPage;
import trigon.report.view.JsonLines;
import trigon.report.view.PerfettoTrace;
import trigon.report.view.PrometheusText;
import trigon.report.view.SvgChart;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.UserFiles;

/** The files that a report can be written to; options of a command. */
final class ReportFiles {

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "A self-contained page: tables, a heat map of the links, timelines.")
    private @Nullable Path html;

    @Option(names = "--svg", paramLabel = "FILE", description = "A picture of the slowest collective.")
    private @Nullable Path svg;

    @Option(names = "--perfetto", paramLabel = "FILE", description = "A trace for ui.perfetto.dev.")
    private @Nullable Path perfetto;

    @Option(names = "--json", paramLabel = "FILE", description = "Everything, as one JSON object per line.")
    private @Nullable Path json;

    @Option(
            names = "--prometheus",
            paramLabel = "FILE",
            description = "Histograms and counters in Prometheus text format.")
    private @Nullable Path prometheus;

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
        if (svg != null) {
            UserFiles.write(svg, slowest(report));
        }
        if (perfetto != null) {
            UserFiles.write(perfetto, to -> PerfettoTrace.write(report, to));
        }
        if (json != null) {
            UserFiles.write(json, to -> {
                try (Writer text = new OutputStreamWriter(to, StandardCharsets.UTF_8)) {
                    JsonLines.write(report, text);
                }
            });
        }
        if (prometheus != null) {
            UserFiles.write(prometheus, PrometheusText.of(report));
        }
    }

    private static String slowest(Report report) {
        List<Collective> collectives = report.run().collectives();
        int slowest = IntStream.range(0, collectives.size())
                .boxed()
                .max(Comparator.comparingLong(index -> collectives.get(index).wall()))
                .orElseThrow(() -> new CommandFailure("the traces contain no collective to draw; omit --svg"));
        return SvgChart.of(collectives.get(slowest), report.paths().get(slowest));
    }
}
