package trigon.policy.commands;

import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.policy.report.PolicyReport;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.Style;
import trigon.tools.console.Table;

/** {@code trigon policy stat}: what the policies of running processes have decided, and what is in their maps. */
@Command(
        name = "stat",
        description = {"Show what policies have decided, and their maps.", "Covers the processes on this machine."})
final class StatCommand extends ToolCommand {

    private final PolicyProcesses processes;

    @Option(names = "--pid", paramLabel = "N", defaultValue = "0", description = "Only this process.")
    private long pid;

    @Option(names = "--json", description = "The result as JSON, schema trigon.policy-stat/1.")
    private boolean json;

    StatCommand(Machine machine, Console console) {
        super(machine, console);
        processes = new PolicyProcesses(machine);
    }

    @Override
    public Integer call() {
        List<PolicyProcesses.PolicyProcess> all = pid == 0 ? processes.all() : List.of(processes.one(pid));
        if (json) {
            printJson(
                    "trigon.policy-stat/1",
                    Json.object("processes", all.stream().map(StatCommand::json).toList()));
            return 0;
        }
        if (all.isEmpty()) {
            throw new CommandFailure(
                    "no process that you can see has a policy: TRIGON_POLICY has to name one when the job starts");
        }
        all.forEach(this::print);
        return 0;
    }

    private void print(PolicyProcesses.PolicyProcess process) {
        PolicyReport report = process.report();
        console.out()
                .println(console.styled(Style.STRONG, "process %d (%s)".formatted(process.pid(), process.command())));
        console.out().println("file      " + report.file());
        console.out().println("policy    " + ListCommand.version(report));
        if (!report.refused().isEmpty()) {
            console.out().println(console.styled(Style.WARNING, "refused") + "   " + report.refused());
        }
        for (PolicyReport.Stopped stopped : report.stopped()) {
            console.out()
                    .println(console.styled(Style.BAD, "stopped")
                            + "   %d runs of %s, of %s".formatted(stopped.runs(), stopped.section(), stopped.of()));
        }
        Table tuners = new Table("decided", "left to NCCL", "impossible", "communicator");
        for (PolicyReport.Tuner tuner : report.tuners()) {
            tuners.row(tuner.decided(), tuner.left(), tuner.impossible(), tuner.communicator());
        }
        if (!tuners.isEmpty()) {
            tuners.print(console);
        }
        for (PolicyReport.MapContent map : report.maps()) {
            console.out().println("map %s (%s) of %s".formatted(map.name(), map.type(), map.of()));
            Table entries = new Table("key", "value");
            map.entries().forEach(entry -> entries.row(entry.key(), entry.value()));
            if (!entries.isEmpty()) {
                entries.print(console);
            }
        }
        console.out().println();
    }

    private static Object json(PolicyProcesses.PolicyProcess process) {
        PolicyReport report = process.report();
        return Json.object(
                "pid", process.pid(),
                "command", process.command(),
                "file", report.file(),
                "version", report.version(),
                "sha256", report.digest(),
                "refused", report.refused(),
                "stopped",
                        report.stopped().stream()
                                .mapToLong(PolicyReport.Stopped::runs)
                                .sum(),
                "stoppedPrograms", report.stopped(),
                "communicators",
                        report.tuners().stream()
                                .map(tuner -> Json.object(
                                        "communicator", tuner.communicator(),
                                        "sha256", tuner.digest(),
                                        "decided", tuner.decided(),
                                        "leftToNccl", tuner.left(),
                                        "impossible", tuner.impossible()))
                                .toList(),
                "maps", report.maps());
    }
}
