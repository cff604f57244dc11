package trigon.tools.metrics;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.Console;
import trigon.tools.console.Style;
import trigon.tools.console.Table;
import trigon.tools.metrics.Job.FailoverUse;
import trigon.tools.metrics.Job.LinkUse;
import trigon.tools.metrics.Job.PathUse;
import trigon.transport.metrics.MetricsReader.Counts;
import trigon.transport.metrics.MetricsReader.FailoverMetrics;

/** {@code trigon jobs}: the processes of this machine that use Trigon, and what goes over which link. */
@Command(
        name = "jobs",
        description = {
            "List the processes on this machine that use Trigon.",
            "Shows their links, peers and counters. You see your own processes; root sees all of them. Jobs are"
                    + " unaffected."
        })
public final class JobsCommand extends ToolCommand {

    @Option(names = "--json", description = "The result as JSON, schema trigon.jobs/1.")
    private boolean json;

    public JobsCommand(Machine machine, Console console) {
        super(machine, console);
    }

    @Override
    public Integer call() {
        List<Job> jobs = Job.all(console::note);
        if (json) {
            printJson("trigon.jobs/1", json(jobs));
        } else if (jobs.isEmpty()) {
            console.out().println("No process that you can see uses Trigon here.");
        } else {
            print(jobs);
        }
        return 0;
    }

    private void print(List<Job> jobs) {
        Table links = new Table("process", "rank", "link", "over", "messages", "MB", "waits", "lost", "retries");
        Table paths = new Table("process", "link", "end", "state", "MB", "peer", "relayed by");
        Table failovers = new Table("process", "link left", "peer", "out", "back", "ms", "longest", "again", "MB");
        for (Job job : jobs) {
            String name = job.pid() + " " + job.program();
            for (LinkUse link : job.links()) {
                Counts counts = link.counts();
                links.styled(
                        link.up() ? counts.errors() > 0 ? Style.WARNING : Style.GOOD : Style.BAD,
                        name,
                        job.rank().isEmpty() ? "-" : job.rank(),
                        link.name(),
                        link.state(),
                        counts.messages(),
                        counts.bytes() / 1_000_000,
                        counts.waits(),
                        counts.errors(),
                        counts.retries());
            }
            for (PathUse path : job.paths()) {
                paths.row(
                        name,
                        path.link(),
                        path.end(),
                        path.stateWord(),
                        path.counts().bytes() / 1_000_000,
                        path.peer(),
                        path.relays().isEmpty() ? "-" : path.relays());
            }
            for (FailoverUse each : job.failovers()) {
                FailoverMetrics counts = each.metrics();
                failovers.row(
                        name,
                        each.link(),
                        counts.peer(),
                        counts.failovers(),
                        counts.returns(),
                        TimeUnit.NANOSECONDS.toMillis(counts.pausedNanos()),
                        TimeUnit.NANOSECONDS.toMillis(counts.longestNanos()),
                        counts.messages(),
                        counts.bytes() / 1_000_000);
            }
        }
        links.print(console);
        for (Table more : List.of(paths, failovers)) {
            if (!more.isEmpty()) {
                console.out().println();
                more.print(console);
            }
        }
        if (!failovers.isEmpty()) {
            console.paragraph(
                    "Out: failovers, back: returns, ms: all pauses, longest: one of them, again: messages that"
                            + " were sent again, and their MB.");
        }
    }

    private Map<String, Object> json(List<Job> jobs) {
        return Json.object("jobs", jobs.stream().map(JobsCommand::json).toList());
    }

    private static Map<String, Object> json(Job job) {
        return Json.object(
                "pid", job.pid(),
                "program", job.program(),
                "rank", job.rank(),
                "links",
                        job.links().stream()
                                .map(link -> with(
                                        Json.object(
                                                "name", link.name(),
                                                "carrier", link.carrier(),
                                                "speedMbps", link.speedMbps(),
                                                "up", link.up()),
                                        link.counts()))
                                .toList(),
                "paths",
                        job.paths().stream()
                                .map(path -> with(
                                        Json.object(
                                                "link", path.link(),
                                                "peer", path.peer(),
                                                "end", path.end(),
                                                "relays", path.relays(),
                                                "state", path.stateWord()),
                                        path.counts()))
                                .toList(),
                "failovers", job.failovers().stream().map(JobsCommand::json).toList());
    }

    private static Map<String, Object> json(FailoverUse each) {
        FailoverMetrics counts = each.metrics();
        return Json.object(
                "link", each.link(),
                "peer", counts.peer(),
                "failovers", counts.failovers(),
                "returns", counts.returns(),
                "pausedNanos", counts.pausedNanos(),
                "longestPauseNanos", counts.longestNanos(),
                "messages", counts.messages(),
                "bytes", counts.bytes());
    }

    private static Map<String, Object> with(Map<String, Object> object, Counts counts) {
        object.put("messages", counts.messages());
        object.put("bytes", counts.bytes());
        object.put("waits", counts.waits());
        object.put("lost", counts.errors());
        object.put("retries", counts.retries());
        return object;
    }
}
