package trigon.tools.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import trigon.cluster.machine.Machine;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.UserFiles;

/** {@code trigon trace}: runs a command with a trace, and reports. */
@Command(
        name = "trace",
        description = {
            "Run a command with tracing, and report.",
            "Every process that the command (such as torchrun) starts on this machine writes a trace. The exit"
                    + " status is the command's.",
            "For jobs on several machines, set TRIGON_TRACE on all of them, collect the folders, and use \"trigon"
                    + " report\"."
        })
public final class TraceCommand extends ToolCommand {

    private static final int NOT_STARTED = 127;

    @Mixin
    private final ReportFiles files = new ReportFiles();

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "Folder for the traces; must not exist. Default: trigon-trace-TIME here.")
    private @Nullable Path folder;

    @Parameters(arity = "1..*", paramLabel = "COMMAND", description = "After --: the command and its arguments.")
    private final List<String> command = new ArrayList<>();

    public TraceCommand(Machine machine, Console console) {
        super(machine, console);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path traces = (folder != null ? folder : Path.of("trigon-trace-" + now())).toAbsolutePath();
        if (Files.exists(traces)) {
            throw new CommandFailure(
                    traces + " already exists; to keep its traces apart, give another folder with --out");
        }
        ProcessBuilder process = new ProcessBuilder(command).inheritIO();
        process.environment().put("TRIGON_TRACE", traces.toString());
        int status;
        try {
            status = process.start().waitFor();
        } catch (IOException e) {
            console.err()
                    .println("trigon: cannot run %s: %s; give a program and its arguments after --"
                            .formatted(command.getFirst(), UserFiles.reason(e)));
            return NOT_STARTED;
        }
        if (!Files.isDirectory(traces)) {
            console.err()
                    .println("trigon trace: no process of '%s' has written a trace to %s: did NCCL load Trigon?"
                            .formatted(command.getFirst(), traces));
            return status == 0 ? 1 : status;
        }
        files.htmlUnlessNamed(traces.resolve("report.html"));
        int reported = reported(traces);
        console.err()
                .println("trigon trace: the traces%s are in %s"
                        .formatted(reported == 0 ? " and report.html" : "", traces));
        return status == 0 ? reported : status;
    }

    private int reported(Path traces) {
        try {
            return ReportCommand.report(machine, console, List.of(traces), files);
        } catch (CommandFailure e) {
            console.note(String.valueOf(e.getMessage())); // the status of the user's command matters more
            return 1;
        }
    }

    private static String now() {
        return LocalDateTime.now(ZoneId.systemDefault()).format(DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss"));
    }
}
