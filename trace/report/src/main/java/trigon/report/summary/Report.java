package trigon.report.summary;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import trigon.report.model.Collective;
import trigon.report.model.Run;
import trigon.report.model.RunBuilder;
import trigon.report.path.Cause;
import trigon.report.path.CriticalPath;
import trigon.report.path.CriticalPath.Segment;
import trigon.report.read.TraceFolder;

/**
 * All that is known of a traced run.
 *
 * @param run what happened
 * @param paths the critical path of each of the run's collectives
 * @param operations a row for each kind of collective and size
 * @param links a row for each link and direction
 * @param verdict one sentence
 */
public record Report(
        Run run, List<List<Segment>> paths, List<OperationRow> operations, List<LinkRow> links, String verdict) {

    /** A second cause is named from that share on. */
    private static final double WORTH_NAMING = 0.1;

    /** Time of one cause at one place. */
    private record Blame(Cause cause, String place) {}

    public Report {
        paths = List.copyOf(paths);
        operations = List.copyOf(operations);
        links = List.copyOf(links);
    }

    /** Reads the traces in these folders; what is wrong with them is among the run's problems. */
    public static Report of(List<Path> folders) {
        Run run = RunBuilder.build(TraceFolder.read(folders));
        List<List<Segment>> paths = CriticalPath.ofAll(run);
        List<OperationRow> operations = OperationRow.of(run, paths);
        List<LinkRow> links = LinkRow.of(run);
        return new Report(run, paths, operations, links, verdict(run, paths, links));
    }

    /** One sentence of where the time went. */
    private static String verdict(Run run, List<List<Segment>> paths, List<LinkRow> links) {
        long wall = run.collectives().stream().mapToLong(Collective::wall).sum();
        if (run.ranks().isEmpty()) {
            return "Nothing to report: no trace could be read.";
        }
        if (wall == 0) {
            return "No messages were recorded: the job ended too early, or NCCL used another network.";
        }
        Map<Blame, Long> blames = new HashMap<>();
        for (List<Segment> path : paths) {
            for (Segment segment : path) {
                blames.merge(new Blame(segment.cause(), segment.place()), segment.length(), Long::sum);
            }
        }
        List<Map.Entry<Blame, Long>> sorted = blames.entrySet().stream()
                .sorted(Map.Entry.<Blame, Long>comparingByValue().reversed())
                .toList();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < Math.min(2, sorted.size()); i++) {
            Map.Entry<Blame, Long> each = sorted.get(i);
            if (i == 0 || each.getValue() > WORTH_NAMING * wall) {
                text.append(i == 0 ? "" : "; ").append(words(each, wall, links));
            }
        }
        return text.append('.').toString();
    }

    private static String words(Map.Entry<Blame, Long> blame, long wall, List<LinkRow> links) {
        Cause cause = blame.getKey().cause();
        String place = blame.getKey().place();
        String share = Amounts.share(blame.getValue(), wall);
        String text = "%s of the time was %s %s %s: %s"
                .formatted(share, cause.word(), place.startsWith("rank") ? "at" : "on", place, cause.meaning());
        if (cause != Cause.TRANSPORT && cause != Cause.RELAY) {
            return text;
        }
        return text
                + links.stream()
                        .filter(row -> place.equals(row.direction() + " over " + row.links()))
                        .findFirst()
                        .map(row -> " (p50 %s, p99 %s%s)"
                                .formatted(
                                        Amounts.time(row.transportMedian()),
                                        Amounts.time(row.transportP99()),
                                        row.retransmissions() > 0
                                                ? ", " + row.retransmissions()
                                                        + (row.retransmissions() == 1
                                                                ? " retransmission"
                                                                : " retransmissions")
                                                : ""))
                        .orElse("");
    }
}
