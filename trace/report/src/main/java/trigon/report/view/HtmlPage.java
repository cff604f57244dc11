package trigon.report.view;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import trigon.report.model.Collective;
import trigon.report.model.Rank;
import trigon.report.path.Cause;
import trigon.report.path.CriticalPath;
import trigon.report.path.CriticalPath.Segment;
import trigon.report.summary.Amounts;
import trigon.report.summary.LinkRow;
import trigon.report.summary.OperationRow;
import trigon.report.summary.Report;

/**
 * The report as one page that needs nothing else: tables that a screen reader reads, and pictures of some collectives,
 * each with its critical path as a table below.
 */
public final class HtmlPage {

    /** Pictures: the slowest and the middle one of each kind, as long as there is room. */
    private static final int MAX_PICTURES = 16;

    private static final int MAX_STEPS = 60;

    /** Share of all collectives' time that a cause must have for its remedy to be shown. */
    private static final double WORTH_A_REMEDY = 0.05;

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern(
                    "d MMMM yyyy, HH:mm 'UTC'", Locale.ENGLISH)
            .withZone(ZoneOffset.UTC);

    private final Report report;
    private final String reporter;
    private final StringBuilder html = new StringBuilder();

    private HtmlPage(Report report, String reporter) {
        this.report = report;
        this.reporter = reporter;
    }

    /**
     * A whole page, with its styles and pictures: it loads nothing.
     *
     * @param reporter the program that makes it, with its version
     */
    public static String of(Report report, String reporter) {
        return new HtmlPage(report, reporter).write();
    }

    private String write() {
        add("""
                <!DOCTYPE html>
                <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
                <title>Trigon: where the time went</title><style>
                %s</style></head><body>
                <a class="skip" href="#timelines">To the timelines</a>
                <main><h1>Where the time went</h1>
                <p class="verdict" role="status">%s</p>
                """, resource("page.css"), text(report.verdict()));
        origin();
        remedies();
        problems();
        operations();
        links();
        heat();
        timelines();
        add("</main><script>\n%s</script></body></html>\n", resource("page.js"));
        return html.toString();
    }

    /** When and where the job ran, by the machines' clocks and names. */
    private void origin() {
        Map<String, List<String>> ranks = new TreeMap<>();
        for (Rank rank : report.run().ranks()) {
            ranks.computeIfAbsent(rank.host(), _ -> new ArrayList<>()).add(Integer.toString(rank.number()));
        }
        add("<dl class=\"origin\">");
        report.run().ranks().stream()
                .mapToLong(rank -> rank.trace().process().number("real", 0))
                .filter(nanos -> nanos > 0)
                .min()
                .ifPresent(nanos -> add("<dt>Began<dd>%s", TIME.format(Instant.ofEpochSecond(0, nanos))));
        add("<dt>Nodes<dd>");
        ranks.forEach((host, numbers) -> add(
                "%s (%s %s)<br>",
                text(host), numbers.size() == 1 ? "rank" : "ranks", text(String.join(", ", numbers))));
        add("<dt>Reported by<dd>%s</dl>\n", text(reporter));
    }

    /** For the causes that took the most. */
    private void remedies() {
        Map<Cause, Long> times = new EnumMap<>(Cause.class);
        report.operations().forEach(row -> row.byCause().forEach((cause, time) -> times.merge(cause, time, Long::sum)));
        long all =
                report.operations().stream().mapToLong(OperationRow::totalWall).sum();
        List<Map.Entry<Cause, Long>> worth = times.entrySet().stream()
                .filter(each -> !each.getKey().remedy().isEmpty() && each.getValue() > WORTH_A_REMEDY * all)
                .sorted(Map.Entry.<Cause, Long>comparingByValue().reversed())
                .toList();
        if (!worth.isEmpty()) {
            add("<h2>What to do</h2><ul>\n");
            worth.forEach(each -> add(
                    "<li>%s, %s of the time: %s\n",
                    each.getKey().word(),
                    Amounts.share(each.getValue(), all),
                    text(each.getKey().remedy())));
            add("</ul>\n");
        }
    }

    private void problems() {
        if (report.run().problems().isEmpty()) {
            return;
        }
        add("<h2>What is missing</h2><ul>\n");
        report.run().problems().forEach(problem -> add("<li>%s</li>\n", text(problem)));
        add("</ul>\n");
    }

    private void operations() {
        add("""
                <h2>Collectives</h2><div class="wide" role="region" aria-label="Collectives" tabindex="0">\
                <table><caption>Wall time, and the critical path by cause</caption>
                <thead><tr><th scope="col">collective<th scope="col">size<th scope="col" class="text">algorithm\
                <th scope="col">count<th scope="col">wall p50<th scope="col">explained<th scope="col" class="text">\
                critical path<th scope="col" class="text">by cause</tr></thead><tbody>
                """);
        for (OperationRow row : report.operations()) {
            add(
                    "<tr><th scope=\"row\">%s<td>%s<td class=\"text\">%s<td>%d<td>%s<td>%s<td>%s"
                            + "<td class=\"text\">%s\n",
                    text(row.name()),
                    Amounts.size(row.bytes()),
                    text(row.algorithm()),
                    row.count(),
                    Amounts.time(row.medianWall()),
                    Amounts.share(row.explained(), row.totalWall()),
                    bar(row),
                    causes(row));
        }
        add("</tbody></table></div>\n<p class=\"legend\">");
        for (Cause cause : Cause.values()) {
            add("<span><i class=\"%s\"></i>%s: %s</span> ", SvgChart.style(cause), cause.word(), cause.meaning());
        }
        add("</p>\n");
    }

    private static String bar(OperationRow row) {
        StringBuilder bar = new StringBuilder("<div class=\"bar\" aria-hidden=\"true\">");
        for (Cause cause : Cause.values()) {
            long part = row.byCause().getOrDefault(cause, 0L);
            if (part > 0 && row.totalWall() > 0) {
                bar.append(String.format(
                        Locale.ROOT,
                        "<div class=\"%s\" style=\"width:%.2f%%\"></div>",
                        SvgChart.style(cause),
                        100.0 * part / row.totalWall()));
            }
        }
        return bar.append("</div>").toString();
    }

    private static String causes(OperationRow row) {
        List<String> words = new ArrayList<>();
        row.byCause().entrySet().stream()
                .sorted(Map.Entry.<Cause, Long>comparingByValue().reversed())
                .forEach(entry ->
                        words.add(entry.getKey().word() + " " + Amounts.share(entry.getValue(), row.totalWall())));
        return String.join(", ", words);
    }

    private void links() {
        add("""
                <h2>Links</h2><div class="wide" role="region" aria-label="Links" tabindex="0">\
                <table><caption>Messages by link and direction</caption><thead><tr>
                <th scope="col">direction<th scope="col" class="text">links<th scope="col">messages
                <th scope="col">bytes\
                <th scope="col">transport p50<th scope="col">p99<th scope="col">credit p50<th scope="col">p99\
                <th scope="col">retransmitted<th scope="col">clock</tr></thead><tbody>
                """);
        for (LinkRow row : report.links()) {
            add(
                    "<tr><th scope=\"row\">%s<td class=\"text\">%s<td>%d<td>%s<td>%s<td>%s<td>%s<td>%s<td>%s<td>%s\n",
                    row.direction(),
                    text(row.links()),
                    row.messages(),
                    Amounts.size(row.bytes()),
                    Amounts.time(row.transportMedian()),
                    Amounts.time(row.transportP99()),
                    Amounts.time(row.waitMedian()),
                    Amounts.time(row.waitP99()),
                    row.retransmissions() < 0 ? "not known" : Long.toString(row.retransmissions()),
                    Amounts.bound(row.bound()));
        }
        add("</tbody></table></div>\n");
    }

    private void heat() {
        TreeSet<Integer> ranks = new TreeSet<>();
        long slowest = 1;
        for (LinkRow row : report.links()) {
            ranks.add(row.from());
            ranks.add(row.to());
            slowest = Math.max(slowest, row.transportMedian());
        }
        add("""
                <h2>Link heat map</h2><div class="wide" role="region" aria-label="Link heat map" tabindex="0">\
                <table><caption>Median transport, from the row's rank to the column's</caption>
                """);
        add("<thead><tr><th scope=\"col\">from");
        ranks.forEach(rank -> add("<th scope=\"col\">to %s", name(rank)));
        add("</tr></thead><tbody>\n");
        for (int from : ranks) {
            add("<tr><th scope=\"row\">%s", name(from));
            for (int to : ranks) {
                long median = report.links().stream()
                        .filter(row -> row.from() == from && row.to() == to)
                        .mapToLong(LinkRow::transportMedian)
                        .max()
                        .orElse(0);
                if (median == 0) {
                    add("<td>");
                } else {
                    add(
                            "<td class=\"heat\" style=\"background:hsl(%d 85%% 72%%)\">%s",
                            120 - (int) (120 * Math.sqrt((double) median / slowest)), Amounts.time(median));
                }
            }
            add("</tr>\n");
        }
        add("</tbody></table></div>\n");
    }

    private static String name(int rank) {
        return rank < 0 ? "unknown" : "rank " + rank;
    }

    private void timelines() {
        List<Integer> shown = shown();
        add("<h2 id=\"timelines\">Timelines</h2>\n");
        if (shown.isEmpty()) {
            add("<p>There are no collectives.</p>\n");
            return;
        }
        add("<p><label for=\"choice\">Collective</label> <select id=\"choice\">\n");
        for (int index : shown) {
            add("<option>%s</option>\n", text(title(index)));
        }
        add(
                "</select> (%d of %d: the slowest and the middle one of each kind)</p>\n",
                shown.size(), report.paths().size());
        shown.forEach(this::timeline);
    }

    private List<Integer> shown() {
        List<Integer> shown = new ArrayList<>();
        for (OperationRow row : report.operations()) {
            List<Integer> of = new ArrayList<>();
            for (int i = 0; i < report.run().collectives().size(); i++) {
                Collective each = report.run().collectives().get(i);
                if (each.name().equals(row.name())
                        && each.bytes() == row.bytes()
                        && each.algorithm().equals(row.algorithm())) {
                    of.add(i);
                }
            }
            of.sort(Comparator.comparingLong(
                    index -> -report.run().collectives().get(index).wall()));
            shown.add(of.getFirst());
            if (of.size() > 1) {
                shown.add(of.get(of.size() / 2));
            }
        }
        return shown.stream().limit(MAX_PICTURES).toList();
    }

    private String title(int index) {
        Collective collective = report.run().collectives().get(index);
        return "%s of %s, number %d, %s"
                .formatted(
                        collective.name(),
                        Amounts.size(collective.bytes()),
                        collective.sequence(),
                        Amounts.time(collective.wall()));
    }

    private void timeline(int index) {
        Collective collective = report.run().collectives().get(index);
        List<Segment> path = report.paths().get(index);
        add("""
                <section class="collective" aria-label="%s"><h3>%s</h3>
                <p><button type="button" data-zoom="1.5">Zoom in</button>
                <button type="button" data-zoom="0.667">Zoom out\
                </button> <button type="button" data-zoom="0">All</button>
                Keys: + and - zoom, 0 shows all, arrows scroll.</p>
                <p class="legend"><span><i class="credit"></i>waits for its receiver</span>
                <span><i class="transport"></i>is sent</span> <span><i class="receive"></i>receive is posted</span>
                Lines go from a send to its arrival.</p>
                <div class="scroll" role="region" aria-label="Timeline" tabindex="0">%s</div>
                <table><caption>The critical path, from the first call to the last end</caption><thead><tr>
                <th scope="col">at<th scope="col">for<th scope="col" class="text">cause
                <th scope="col" class="text">where\
                </tr></thead><tbody>
                """, text(title(index)), text(title(index)), SvgChart.of(collective, path));
        List<Segment> merged = CriticalPath.merged(path);
        for (Segment segment : merged.stream().limit(MAX_STEPS).toList()) {
            add(
                    "<tr><td>%s<td>%s<td class=\"text\">%s<td class=\"text\">%s</tr>\n",
                    Amounts.time(segment.from() - collective.start()),
                    Amounts.time(segment.length()),
                    segment.cause().word(),
                    text(segment.place()));
        }
        add("</tbody></table>\n");
        if (merged.size() > MAX_STEPS) {
            add("<p>The first %d of %d steps.</p>\n", MAX_STEPS, merged.size());
        }
        add("</section>\n");
    }

    @SuppressWarnings("AnnotateFormatMethod") // the annotation is of a library that the report does not need
    private void add(String format, Object... arguments) {
        html.append(arguments.length == 0 ? format : String.format(Locale.ROOT, format, arguments));
    }

    private static String text(String text) {
        return Svg.escaped(text);
    }

    private static String resource(String name) {
        try (InputStream in = HtmlPage.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("the report's jar lacks " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
