package trigon.tools.metrics;

import static trigon.report.view.PrometheusWriter.seconds;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import trigon.report.view.PrometheusWriter;
import trigon.tools.console.Json;
import trigon.tools.metrics.Job.FailoverUse;
import trigon.tools.metrics.Job.LinkUse;
import trigon.tools.metrics.Job.PathUse;
import trigon.transport.metrics.MetricsReader.Counts;
import trigon.transport.metrics.MetricsReader.FailoverMetrics;

/** What jobs count, as Prometheus reads it: its text format 0.0.4. Base units, and counters that end with total. */
public final class PrometheusPage {

    private static final long BITS_TO_BYTES = 1_000_000 / 8;

    private final List<Family> families = new ArrayList<>();

    private PrometheusPage() {}

    /** A metric with its samples, by their labels. */
    private record Family(String name, String type, String help, Map<Map<String, String>, Object> samples) {

        Map<String, Object> json() {
            return Json.object(
                    "name",
                    name,
                    "type",
                    type,
                    "help",
                    help,
                    "samples",
                    samples.entrySet().stream()
                            .map(each -> Json.object(
                                    "labels",
                                    each.getKey(),
                                    "value",
                                    new BigDecimal(each.getValue().toString())))
                            .toList());
        }
    }

    /** All counters of these jobs in the text format of Prometheus, each with its help and type. */
    public static String of(List<Job> jobs) {
        PrometheusWriter page = new PrometheusWriter();
        for (Family each : families(jobs)) {
            page.family(each.name(), each.type(), each.help());
            each.samples().forEach((labels, value) -> page.sample(each.name(), labels, value));
        }
        return page.toString();
    }

    /** The same for JSON. */
    static List<Map<String, Object>> json(List<Job> jobs) {
        return families(jobs).stream().map(Family::json).toList();
    }

    private static List<Family> families(List<Job> jobs) {
        PrometheusPage page = new PrometheusPage();
        page.counter(jobs, "messages", "Messages, or parts of them.", Counts::messages);
        page.counter(jobs, "bytes", "Bytes of the messages.", Counts::bytes);
        page.counter(jobs, "waits", "Messages that waited for the receiver's clear to send.", Counts::waits);
        page.counter(jobs, "lost", "Paths lost while in use, without a failover.", Counts::errors);
        page.counter(jobs, "retries", "Failed attempts to bring up a path.", Counts::retries);
        page.links(
                jobs,
                "trigon_link_speed_bytes_per_second",
                "The link's nominal speed.",
                link -> link.speedMbps() * BITS_TO_BYTES);
        page.links(
                jobs,
                "trigon_link_up",
                "Whether the link is up, according to this machine.",
                link -> link.up() ? 1 : 0);
        page.paths(jobs);
        page.failovers(
                jobs,
                "s_total",
                "counter",
                "Failovers: connections that left a link because their path failed.",
                each -> each.failovers());
        page.failovers(
                jobs,
                "_returns_total",
                "counter",
                "Failbacks: connections that returned to a link.",
                each -> each.returns());
        page.failovers(
                jobs,
                "_pause_seconds_total",
                "counter",
                "Total pause of all failovers.",
                each -> seconds(each.pausedNanos()));
        page.failovers(
                jobs,
                "_longest_pause_seconds",
                "gauge",
                "Longest pause of a failover.",
                each -> seconds(each.longestNanos()));
        page.failovers(
                jobs, "_messages_total", "counter", "Messages replayed after failovers.", each -> each.messages());
        page.failovers(jobs, "_bytes_total", "counter", "Bytes replayed after failovers.", each -> each.bytes());
        return page.families;
    }

    private void counter(List<Job> jobs, String what, String help, ToLongFunction<Counts> value) {
        Map<Map<String, String>, Object> samples = new LinkedHashMap<>();
        jobs.forEach(job -> samples.putAll(byLink(job, value)));
        family("trigon_link_" + what + "_total", "counter", help, samples);
    }

    /** Links of several communicators may have one name: they are one sample. */
    private static Map<Map<String, String>, Long> byLink(Job job, ToLongFunction<Counts> value) {
        Map<Map<String, String>, Long> sums = new LinkedHashMap<>();
        for (LinkUse link : job.links()) {
            sums.merge(labels(job, link), value.applyAsLong(link.counts()), Long::sum);
        }
        return sums;
    }

    private static Map<String, String> labels(Job job, LinkUse link) {
        Map<String, String> labels = labels(job);
        labels.put("link", link.name());
        labels.put("carrier", link.carrier());
        return labels;
    }

    private static Map<String, String> labels(Job job) {
        Map<String, String> labels = new TreeMap<>();
        labels.put("pid", Long.toString(job.pid()));
        labels.put("rank", job.rank());
        return labels;
    }

    private void links(List<Job> jobs, String family, String help, ToLongFunction<LinkUse> value) {
        Map<Map<String, String>, Object> samples = new LinkedHashMap<>();
        for (Job job : jobs) {
            job.links().forEach(link -> samples.put(labels(job, link), value.applyAsLong(link)));
        }
        family(family, "gauge", help, samples);
    }

    private void paths(List<Job> jobs) {
        Map<Map<String, String>, Long> counts = new LinkedHashMap<>();
        for (Job job : jobs) {
            for (PathUse path : job.paths()) {
                Map<String, String> labels = labels(job);
                labels.put("link", path.link());
                labels.put("peer", path.peer());
                labels.put("end", path.end());
                labels.put("state", PathWords.state(path.state()));
                counts.merge(labels, 1L, Long::sum);
            }
        }
        family("trigon_paths", "gauge", "Open paths, by peer and state.", new LinkedHashMap<>(counts));
    }

    private void failovers(
            List<Job> jobs, String what, String type, String help, Function<FailoverMetrics, Object> value) {
        Map<Map<String, String>, Object> samples = new LinkedHashMap<>();
        for (Job job : jobs) {
            for (FailoverUse each : job.failovers()) {
                Map<String, String> labels = labels(job);
                labels.put("link", each.link());
                labels.put("peer", each.metrics().peer());
                samples.put(labels, value.apply(each.metrics()));
            }
        }
        family("trigon_failover" + what, type, help, samples);
    }

    private void family(String name, String type, String help, Map<Map<String, String>, Object> samples) {
        if (!samples.isEmpty()) {
            families.add(new Family(name, type, help, samples));
        }
    }
}
