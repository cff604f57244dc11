package trigon.report.view;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import trigon.report.model.Rank;
import trigon.report.path.Cause;
import trigon.report.path.CriticalPath;
import trigon.report.read.Stream;
import trigon.report.summary.LinkRow;
import trigon.report.summary.Report;
import trigon.trace.Fields;
import trigon.trace.RingLayout;

/**
 * The histograms of all messages in Prometheus' text format. They are the recorder's own counts, and so exact even
 * where records were lost.
 */
public final class PrometheusText {

    private static final String[] MEASURES = {"credit", "sent", "received"};
    private static final String[] SIZES = {"64", "1024", "8192", "65536", "262144", "1048576", "4194304", "+Inf"};

    private final StringBuilder text = new StringBuilder();

    private PrometheusText() {}

    /** The report's sums and histograms, each metric with its help and type. */
    public static String of(Report report) {
        PrometheusText made = new PrometheusText();
        made.histograms(report);
        made.counters(report);
        return made.text.toString();
    }

    private void histograms(Report report) {
        head(
                "trigon_message_seconds",
                "histogram",
                "Waits for the receiver, sends and receives, by the longest message");
        for (Rank rank : report.run().ranks()) {
            for (Stream stream : rank.trace().streams().values()) {
                for (int measure = 0; measure < RingLayout.MEASURES; measure++) {
                    for (int size = 0; size < RingLayout.SIZE_CLASSES; size++) {
                        histogram(rank, stream, measure, size);
                    }
                }
            }
        }
    }

    private void histogram(Rank rank, Stream stream, int measure, int size) {
        long count = stream.histogram(measure, size, 0);
        if (count == 0) {
            return;
        }
        Fields fields = stream.fields();
        String labels = "rank=\"%d\",connection=\"%s\",link=\"%s\",peer=\"%s\",measure=\"%s\",size=\"%s\""
                .formatted(
                        rank.number(),
                        escaped(fields.get("connection")),
                        escaped(fields.get("links")),
                        escaped(fields.get("peer")),
                        MEASURES[measure],
                        SIZES[size]);
        long sum = 0;
        for (int bucket = 0; bucket < RingLayout.BUCKETS - 1; bucket++) {
            long here = stream.histogram(measure, size, RingLayout.FIRST_BUCKET + bucket);
            sum += here;
            if (here > 0) {
                line(
                        "trigon_message_seconds_bucket",
                        labels + ",le=\"" + seconds(RingLayout.endOf(bucket)) + "\"",
                        sum + "");
            }
        }
        line("trigon_message_seconds_bucket", labels + ",le=\"+Inf\"", Long.toString(count));
        line("trigon_message_seconds_sum", labels, seconds(stream.histogram(measure, size, 1)));
        line("trigon_message_seconds_count", labels, Long.toString(count));
    }

    private void counters(Report report) {
        head("trigon_retransmits_total", "counter", "Retransmissions of a link's devices or of TCP, both ways");
        for (LinkRow row : report.links()) {
            if (row.retransmissions() >= 0) {
                line(
                        "trigon_retransmits_total",
                        "direction=\"%s\",link=\"%s\"".formatted(row.direction(), escaped(row.links())),
                        Long.toString(row.retransmissions()));
            }
        }
        head("trigon_critical_path_seconds_total", "counter", "Time of the collectives' critical paths");
        Map<Cause, Long> sums = new EnumMap<>(Cause.class);
        report.paths()
                .forEach(path ->
                        CriticalPath.byCause(path).forEach((cause, time) -> sums.merge(cause, time, Long::sum)));
        sums.forEach((cause, time) ->
                line("trigon_critical_path_seconds_total", "cause=\"" + cause.word() + "\"", seconds(time)));
        head("trigon_trace_lost_records_total", "counter", "Records that were overwritten before they were taken");
        for (Rank rank : report.run().ranks()) {
            long lost = rank.trace().streams().values().stream()
                    .mapToLong(Stream::lost)
                    .sum();
            line("trigon_trace_lost_records_total", "rank=\"" + rank.number() + "\"", Long.toString(lost));
        }
    }

    private void head(String name, String type, String help) {
        text.append("# HELP ").append(name).append(' ').append(help).append('\n');
        text.append("# TYPE ").append(name).append(' ').append(type).append('\n');
    }

    private void line(String name, String labels, String value) {
        text.append(name).append('{').append(labels).append("} ").append(value).append('\n');
    }

    private static String seconds(long nanoseconds) {
        return String.format(Locale.ROOT, "%.9f", nanoseconds / 1e9);
    }

    private static String escaped(String label) {
        return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }
}
