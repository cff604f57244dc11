package trigon.tools.metrics;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import trigon.cluster.json.Json;
import trigon.tools.metrics.Job.FailoverUse;
import trigon.tools.metrics.Job.LinkUse;
import trigon.tools.metrics.Job.PathUse;
import trigon.transport.metrics.MetricsReader.FailoverMetrics;

/** Counters of jobs in Prometheus' text format 0.0.4. Base units, and counters that end with total. */
public final class PrometheusPage {

    private static final String PATHS = "trigon_paths";
    private static final long BITS_TO_BYTES = 1_000_000 / 8;
    private static final int NANOS_OF_A_SECOND = 9;

    private final List<Job> jobs;
    private final List<Family> families = new ArrayList<>();

    private PrometheusPage(List<Job> jobs) {
        this.jobs = jobs;
    }

    /** A metric with its samples, by their labels. */
    private record Family(String name, String help, Map<Map<String, String>, BigDecimal> samples) {
        String type() {
            return name.endsWith("_total") ? "counter" : "gauge";
        }

        String text() {
            return "# HELP %s %s\n# TYPE %s %s\n".formatted(name, help, name, type())
                    + samples.entrySet().stream()
                            .map(each ->
                                    name + text(each.getKey()) + each.getValue().toPlainString() + "\n")
                            .collect(Collectors.joining());
        }

        private static String text(Map<String, String> labels) {
            return labels.entrySet().stream()
                    .map(each -> each.getKey() + "=\"" + escaped(each.getValue()) + "\"")
                    .collect(Collectors.joining(",", "{", "} "));
        }

        private static String escaped(String label) {
            return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
        }

        Map<String, Object> json() {
            return Json.object(
                    "name",
                    name,
                    "type",
                    type(),
                    "help",
                    help,
                    "samples",
                    samples.entrySet().stream()
                            .map(each -> Json.object("labels", each.getKey(), "value", each.getValue()))
                            .toList());
        }
    }

    /** The page, each metric with its help and type. */
    public static String of(List<Job> jobs) {
        return families(jobs).stream().map(Family::text).collect(Collectors.joining());
    }

    /** The same for JSON. */
    static List<Map<String, Object>> json(List<Job> jobs) {
        return families(jobs).stream().map(Family::json).toList();
    }

    private static List<Family> families(List<Job> jobs) {
        PrometheusPage page = new PrometheusPage(jobs);
        page.links(
                "messages_total",
                "Messages, or parts of them.",
                link -> link.counts().messages());
        page.links(
                "bytes_total", "Bytes of the messages.", link -> link.counts().bytes());
        page.links(
                "waits_total",
                "Messages that waited for the receiver's clear to send.",
                link -> link.counts().waits());
        page.links(
                "lost_total",
                "Paths lost while in use, without a failover.",
                link -> link.counts().errors());
        page.links(
                "retries_total",
                "Failed attempts to bring up a path.",
                link -> link.counts().retries());
        page.links("speed_bytes_per_second", "The link's nominal speed.", link -> link.speedMbps() * BITS_TO_BYTES);
        page.links("up", "Whether the link is up, according to this machine.", link -> link.up() ? 1 : 0);
        page.family(PATHS, "Open paths, by peer and state.", (job, samples) -> {
            for (PathUse path : job.paths()) {
                Map<String, String> labels = labels(job, path.link());
                labels.put("peer", path.peer());
                labels.put("end", path.end());
                labels.put("state", path.stateWord());
                samples.accept(labels, BigDecimal.ONE);
            }
        });
        page.failovers(
                "s_total",
                "Failovers: connections that left a link because their path failed.",
                each -> whole(each.failovers()));
        page.failovers(
                "_returns_total", "Failbacks: connections that returned to a link.", each -> whole(each.returns()));
        page.failovers("_pause_seconds_total", "Total pause of all failovers.", each -> seconds(each.pausedNanos()));
        page.failovers("_longest_pause_seconds", "Longest pause of a failover.", each -> seconds(each.longestNanos()));
        page.failovers("_messages_total", "Messages replayed after failovers.", each -> whole(each.messages()));
        page.failovers("_bytes_total", "Bytes replayed after failovers.", each -> whole(each.bytes()));
        return page.families;
    }

    private static BigDecimal whole(long count) {
        return BigDecimal.valueOf(count);
    }

    private static BigDecimal seconds(long nanos) {
        return BigDecimal.valueOf(nanos, NANOS_OF_A_SECOND);
    }

    private static Map<String, String> labels(Job job, String link) {
        Map<String, String> labels = new TreeMap<>();
        labels.put("pid", Long.toString(job.pid()));
        labels.put("rank", job.rank());
        labels.put("link", link);
        return labels;
    }

    private void links(String name, String help, ToLongFunction<LinkUse> value) {
        family("trigon_link_" + name, help, (job, samples) -> {
            for (LinkUse link : job.links()) {
                Map<String, String> labels = labels(job, link.name());
                labels.put("carrier", link.carrier());
                samples.accept(labels, whole(value.applyAsLong(link)));
            }
        });
    }

    private void failovers(String name, String help, Function<FailoverMetrics, BigDecimal> value) {
        family("trigon_failover" + name, help, (job, samples) -> {
            for (FailoverUse each : job.failovers()) {
                Map<String, String> labels = labels(job, each.link());
                labels.put("peer", each.metrics().peer());
                samples.accept(labels, value.apply(each.metrics()));
            }
        });
    }

    /** Adds a metric. Links of several communicators may have one name: they are one sample. */
    private void family(String name, String help, BiConsumer<Job, BiConsumer<Map<String, String>, BigDecimal>> of) {
        Family family = new Family(name, help, new LinkedHashMap<>());
        boolean isSum = family.type().equals("counter") || name.equals(PATHS);
        for (Job job : jobs) {
            of.accept(
                    job,
                    (labels, value) ->
                            family.samples().merge(labels, value, isSum ? BigDecimal::add : BigDecimal::max));
        }
        if (!family.samples().isEmpty()) {
            families.add(family);
        }
    }
}
