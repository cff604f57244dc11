package trigon.tools.explain;

import java.util.List;
import java.util.Map;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.Style;
import trigon.tools.console.Table;
import trigon.tools.machine.ProcessFacts;
import trigon.tools.metrics.Job;
import trigon.tools.metrics.Job.PathUse;

/**
 * The paths of a running process: the peers, the links to them, and what has gone over these.
 *
 * @param nccl libraries that are NCCL or RCCL
 */
record ProcessPaths(Job job, List<String> nccl) {

    /** Finds them; processes whose counters are none are noted on the console. */
    static ProcessPaths of(Machine machine, long pid, Console console) {
        Job job = Job.find(pid, console::note)
                .orElseThrow(() -> new CommandFailure("process " + pid
                        + " has no Trigon of this version, does not exist, or belongs to another user; \"trigon"
                        + " jobs\" lists the processes you can see"));
        return new ProcessPaths(job, ProcessFacts.of(machine, pid).nccl());
    }

    void print(Console console) {
        if (job.paths().isEmpty()) {
            console.out().println("Process " + job.pid() + " has no open path.");
            return;
        }
        Table table = new Table("peer", "end", "link", "over", "state", "MB", "lost", "retries");
        for (PathUse path : job.paths()) {
            table.styled(
                    isUp(path) ? Style.GOOD : Style.BAD,
                    path.peer(),
                    path.end(),
                    path.link(),
                    path.relays().isEmpty() ? carrier(path.link()) : "relayed by " + path.relays(),
                    path.stateWord(),
                    path.counts().bytes() / 1_000_000,
                    path.counts().errors(),
                    path.counts().retries());
        }
        table.print(console);
        if (!nccl.isEmpty()) {
            console.out().println("It has loaded " + String.join(", ", nccl) + ".");
        }
        console.out().println("\"trigon explain --to NODE\" says why a path takes that link; on that job's settings.");
    }

    /** Tells whether there are some, and all are up. */
    boolean areUp() {
        return !job.paths().isEmpty() && job.paths().stream().allMatch(ProcessPaths::isUp);
    }

    private static boolean isUp(PathUse path) {
        return path.stateWord().equals("up");
    }

    private String carrier(String link) {
        return job.links().stream()
                .filter(each -> each.name().equals(link))
                .map(Job.LinkUse::carrier)
                .findFirst()
                .orElse("");
    }

    Map<String, Object> json() {
        return Json.object(
                "pid", job.pid(),
                "program", job.program(),
                "nccl", nccl,
                "paths",
                        job.paths().stream()
                                .map(path -> Json.object(
                                        "peer", path.peer(),
                                        "end", path.end(),
                                        "link", path.link(),
                                        "carrier", carrier(path.link()),
                                        "relays", path.relays(),
                                        "state", path.stateWord(),
                                        "bytes", path.counts().bytes()))
                                .toList());
    }
}
