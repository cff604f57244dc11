package trigon.tools.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import trigon.report.summary.Report;
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
public final class ReportCommand implements Callable<Integer> {

    private final Console console;

    @Mixin
    private final ReportFiles files = new ReportFiles();

    @Parameters(
            arity = "1..*",
            paramLabel = "DIR",
            description = "Folders that TRIGON_TRACE named, of all nodes, or single traces.")
    private final List<Path> folders = new ArrayList<>();

    public ReportCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws IOException {
        return report(console, folders, files);
    }

    /** Prints the tables, and writes the files; the exit status: 1 if no trace can be read. */
    static int report(Console console, List<Path> folders, ReportFiles files) throws IOException {
        console.doing("reading the traces");
        Report report = Report.of(folders);
        console.done();
        files.write(report);
        ReportText.print(report, console);
        return report.run().ranks().isEmpty() ? 1 : 0;
    }
}
