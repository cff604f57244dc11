package trigon.report.command;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import trigon.report.model.Collective;
import trigon.report.summary.Report;
import trigon.report.view.HtmlPage;
import trigon.report.view.JsonLines;
import trigon.report.view.PerfettoTrace;
import trigon.report.view.PrometheusText;
import trigon.report.view.SvgChart;
import trigon.report.view.TerminalTable;

/**
 * {@code ./trigon report [--html FILE] [--svg FILE] [--perfetto FILE] [--json FILE] [--prometheus FILE] DIR...}: prints
 * the table and the verdict, and writes the files that are asked for.
 */
public final class ReportProgram {

    private static final List<String> OPTIONS = List.of("--html", "--svg", "--perfetto", "--json", "--prometheus");

    private ReportProgram() {}

    /**
     * Runs it.
     *
     * @throws IOException if a file cannot be written
     * @throws IllegalArgumentException if the command line is wrong
     */
    public static void main(String[] arguments) throws IOException {
        Map<String, Path> files = new LinkedHashMap<>();
        List<Path> folders = new ArrayList<>();
        for (int i = 0; i < arguments.length; i++) {
            if (OPTIONS.contains(arguments[i]) && i + 1 < arguments.length) {
                files.put(arguments[i], Path.of(arguments[++i]));
            } else if (arguments[i].startsWith("-")) {
                throw new IllegalArgumentException(
                        arguments[i] + " is none of the options " + OPTIONS + ", each of which is followed by a file");
            } else {
                folders.add(Path.of(arguments[i]));
            }
        }
        if (folders.isEmpty()) {
            throw new IllegalArgumentException("which traces? Name the folders that TRIGON_TRACE named");
        }
        Report report = Report.of(folders);
        for (Map.Entry<String, Path> file : files.entrySet()) {
            write(report, file.getKey(), file.getValue());
        }
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        out.print(TerminalTable.of(report));
        out.flush();
    }

    private static void write(Report report, String option, Path file) throws IOException {
        switch (option) {
            case "--html" -> Files.writeString(file, HtmlPage.of(report));
            case "--svg" -> Files.writeString(file, slowest(report));
            case "--prometheus" -> Files.writeString(file, PrometheusText.of(report));
            case "--json" -> {
                try (var to = Files.newBufferedWriter(file)) {
                    JsonLines.write(report, to);
                }
            }
            default -> {
                try (OutputStream to = new BufferedOutputStream(Files.newOutputStream(file))) {
                    PerfettoTrace.write(report, to);
                }
            }
        }
    }

    private static String slowest(Report report) {
        List<Collective> collectives = report.run().collectives();
        int slowest = IntStream.range(0, collectives.size())
                .boxed()
                .max(Comparator.comparingLong(index -> collectives.get(index).wall()))
                .orElseThrow(() -> new IllegalArgumentException("there is no collective to draw"));
        return SvgChart.of(collectives.get(slowest), report.paths().get(slowest));
    }
}
