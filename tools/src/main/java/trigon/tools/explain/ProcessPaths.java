package trigon.tools.explain;

import java.util.List;
import java.util.Map;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.Style;
import trigon.tools.console.Table;
import trigon.tools.metrics.Job;
import trigon.tools.metrics.Job.PathUse;

/** The paths of a running process: who is at the other end of which link, and what has gone over it. */
final class ProcessPaths {

    private final Machine machine;
    private final Console console;
    private final long pid;

    ProcessPaths(Machine machine, Console console, long pid) {
        this.machine = machine;
        this.console = console;
        this.pid = pid;
    }

    /** Returns the exit status: wrong is a path that is lost, or that there is none. */
    int explain(boolean json) {
        Job job = Job.find(pid, console::note)
                .orElseThrow(() -> new CommandFailure("process " + pid
                        + " has no Trigon of this version, does not exist, or belongs to another user; \"trigon"
                        + " jobs\" lists the processes you can see"));
        List<PathUse> paths = job.paths();
        if (json) {
            console.out().print(Json.text(json(job)));
        } else if (paths.isEmpty()) {
            console.out().println("Process " + pid + " has no open path.");
        } else {
            Table table = new Table("peer", "end", "link", "over", "state", "MB", "lost", "retries");
            for (PathUse path : paths) {
                table.styled(
                        isUp(path) ? Style.GOOD : Style.BAD,
                        path.peer(),
                        path.end(),
                        path.link(),
                        path.relays().isEmpty() ? carrier(job, path.link()) : "relayed by " + path.relays(),
                        path.stateWord(),
                        path.counts().bytes() / 1_000_000,
                        path.counts().errors(),
                        path.counts().retries());
            }
            table.print(console);
            console.out()
                    .println("\"trigon explain --to NODE\" says why a path takes that link; on that job's settings.");
        }
        return !paths.isEmpty() && paths.stream().allMatch(ProcessPaths::isUp) ? 0 : 1;
    }

    private static boolean isUp(PathUse path) {
        return path.stateWord().equals("up");
    }

    private static String carrier(Job job, String link) {
        return job.links().stream()
                .filter(each -> each.name().equals(link))
                .map(Job.LinkUse::carrier)
                .findFirst()
                .orElse("");
    }

    private Map<String, Object> json(Job job) {
        Map<String, Object> document = machine.document("trigon.explain/1");
        document.putAll(Json.object(
                "pid", job.pid(),
                "program", job.program(),
                "paths",
                        job.paths().stream()
                                .map(path -> Json.object(
                                        "peer", path.peer(),
                                        "end", path.end(),
                                        "link", path.link(),
                                        "carrier", carrier(job, path.link()),
                                        "relays", path.relays(),
                                        "state", path.stateWord(),
                                        "bytes", path.counts().bytes()))
                                .toList()));
        return document;
    }
}
