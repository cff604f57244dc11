package trigon.report.summary;

import java.nio.file.Path;
import java.util.List;
import trigon.report.model.Run;
import trigon.report.model.RunBuilder;
import trigon.report.path.CriticalPath;
import trigon.report.path.Segment;
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
        return new Report(run, paths, operations, links, Verdict.of(run, paths, links));
    }
}
