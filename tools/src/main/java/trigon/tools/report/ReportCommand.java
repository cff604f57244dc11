package trigon.tools.report;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import trigon.cluster.machine.Machine;
import trigon.report.summary.Report;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;

/** {@code trigon report}: what traces tell. */
@Command(
        name = "report",
        description = {
            "Show from traces where collectives spend their time.",
            "Reads the traces of jobs run with TRIGON_TRACE; prints a table of collectives, a table of links, and"
                    + " a conclusion.",
            "Damaged, incomplete or incompatible traces are shown as far as they can be read, with a note."
        })
public final class ReportCommand extends ToolCommand {

    @Mixin
    private final ReportFiles files = new ReportFiles();

    @Parameters(
            arity = "1..*",
            paramLabel = "DIR",
            description = "Folders that TRIGON_TRACE named, of all nodes, or single traces.")
    private final List<Path> folders = new ArrayList<>();

    public ReportCommand(Machine machine, Console console) {
        super(machine, console);
    }

    @Override
    public Integer call() {
        return report(machine, console, folders, files);
    }

    /**
     * Prints the tables, and writes the files.
     *
     * @throws CommandFailure if no trace can be read, or a file cannot be written
     */
    static int report(Machine machine, Console console, List<Path> folders, ReportFiles files) {
        console.doing("reading the traces");
        Report report = Report.of(folders);
        console.done();
        if (report.run().ranks().isEmpty()) {
            throw new CommandFailure(unread(folders, report.run().problems()));
        }
        ReportText.print(report, console);
        files.write(report, machine.version());
        return 0;
    }

    /** The problem of the only trace; for several, all problems. */
    private static String unread(List<Path> folders, List<String> problems) {
        String traces = problems.isEmpty()
                ? folders.stream().map(Path::toString).collect(Collectors.joining(", "))
                : String.join("; ", problems);
        return "no trace could be read: %s; give the folders that TRIGON_TRACE named".formatted(traces);
    }
}
