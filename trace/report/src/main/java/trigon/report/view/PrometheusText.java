package trigon.report.view;

import static trigon.report.view.PrometheusWriter.seconds;

import java.util.EnumMap;
import java.util.LinkedHashMap;
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

    private final PrometheusWriter page = new PrometheusWriter();

    private PrometheusText() {}

    /** The report's sums and histograms, each metric with its help and type. */
    public static String of(Report report) {
        PrometheusText made = new PrometheusText();
        made.histograms(report);
        made.counters(report);
        return made.page.toString();
    }

    private void histograms(Report report) {
        page.family(
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
        Map<String, String> labels = labels(
                "rank",
                Integer.toString(rank.number()),
                "connection",
                fields.get("connection"),
                "link",
                fields.get("links"),
                "peer",
                fields.get("peer"),
                "measure",
                MEASURES[measure],
                "size",
                SIZES[size]);
        long sum = 0;
        for (int bucket = 0; bucket < RingLayout.BUCKETS - 1; bucket++) {
            long here = stream.histogram(measure, size, RingLayout.FIRST_BUCKET + bucket);
            sum += here;
            if (here > 0) {
                bucket(labels, seconds(RingLayout.endOf(bucket)), sum);
            }
        }
        bucket(labels, "+Inf", count);
        page.sample("trigon_message_seconds_sum", labels, seconds(stream.histogram(measure, size, 1)));
        page.sample("trigon_message_seconds_count", labels, count);
    }

    private void bucket(Map<String, String> labels, String end, long count) {
        Map<String, String> all = new LinkedHashMap<>(labels);
        all.put("le", end);
        page.sample("trigon_message_seconds_bucket", all, count);
    }

    private void counters(Report report) {
        page.family("trigon_retransmits_total", "counter", "Retransmissions of a link's devices or of TCP, both ways");
        for (LinkRow row : report.links()) {
            if (row.retransmissions() >= 0) {
                page.sample(
                        "trigon_retransmits_total",
                        labels("direction", row.direction().toString(), "link", row.links()),
                        row.retransmissions());
            }
        }
        page.family("trigon_critical_path_seconds_total", "counter", "Time of the collectives' critical paths");
        Map<Cause, Long> sums = new EnumMap<>(Cause.class);
        report.paths()
                .forEach(path ->
                        CriticalPath.byCause(path).forEach((cause, time) -> sums.merge(cause, time, Long::sum)));
        sums.forEach((cause, time) ->
                page.sample("trigon_critical_path_seconds_total", labels("cause", cause.word()), seconds(time)));
        page.family(
                "trigon_trace_lost_records_total", "counter", "Records that were overwritten before they were taken");
        for (Rank rank : report.run().ranks()) {
            long lost = rank.trace().streams().values().stream()
                    .mapToLong(Stream::lost)
                    .sum();
            page.sample("trigon_trace_lost_records_total", labels("rank", Integer.toString(rank.number())), lost);
        }
    }

    private static Map<String, String> labels(String... namesAndValues) {
        Map<String, String> labels = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            labels.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        return labels;
    }
}
