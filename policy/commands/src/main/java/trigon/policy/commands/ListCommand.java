package trigon.policy.commands;

import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.policy.report.PolicyReport;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.Console;
import trigon.tools.console.Style;
import trigon.tools.console.Table;

/** {@code trigon policy list}: the processes of this machine that have a policy. */
@Command(
        name = "list",
        description = {
            "List the processes on this machine that have a policy.",
            "Shows which version each of them uses."
        })
final class ListCommand extends ToolCommand {

    private final PolicyProcesses processes;

    @Option(names = "--json", description = "The result as JSON, schema trigon.policy-list/1.")
    private boolean json;

    ListCommand(Machine machine, Console console) {
        super(machine, console);
        processes = new PolicyProcesses(machine);
    }

    @Override
    public Integer call() {
        List<PolicyProcesses.PolicyProcess> all = processes.all();
        if (json) {
            printJson(
                    "trigon.policy-list/1",
                    Json.object("processes", all.stream().map(ListCommand::json).toList()));
            return 0;
        }
        if (all.isEmpty()) {
            console.out().println("no process that you can see has a policy");
            return 0;
        }
        Table table = new Table("process", "command", "file", "policy");
        for (PolicyProcesses.PolicyProcess each : all) {
            PolicyReport report = each.report();
            table.styled(
                    report.refused().isEmpty() ? Style.GOOD : Style.WARNING,
                    each.pid(),
                    each.command(),
                    report.file(),
                    version(report) + (report.refused().isEmpty() ? "" : "; refused: " + report.refused()));
        }
        table.print(console);
        return 0;
    }

    static String version(PolicyReport report) {
        return report.version().isEmpty() ? "none" : report.version();
    }

    private static Object json(PolicyProcesses.PolicyProcess process) {
        PolicyReport report = process.report();
        return Json.object(
                "pid", process.pid(),
                "command", process.command(),
                "file", report.file(),
                "version", report.version(),
                "sha256", report.digest(),
                "refused", report.refused());
    }
}
