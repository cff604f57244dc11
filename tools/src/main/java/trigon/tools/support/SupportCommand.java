package trigon.tools.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.Redaction;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.UserFiles;
import trigon.tools.machine.ProcessFacts;
import trigon.tools.metrics.Job;

/** {@code trigon support}: one archive for a bug report. */
@Command(
        name = "support",
        description = {
            "Write one archive for a bug report.",
            "Contains links, the doctor's findings for this machine, running jobs, paths, versions, settings and"
                    + " their sources, NCCL's and Trigon's environment, and the ends of logs.",
            "Leaves out keys, tokens and passwords that it recognises. The archive stays on this machine; review"
                    + " it before you share it."
        })
public final class SupportCommand extends ToolCommand {

    private final Clock clock;

    @Option(
            names = "--log",
            paramLabel = "FILE",
            description = "A log whose last 4 MiB go into the archive; repeatable.")
    private List<Path> logs = new ArrayList<>();

    @Option(
            names = "--output",
            paramLabel = "FILE.zip",
            description = "The archive; must not exist. Default: trigon-support-HOST-TIME.zip in this folder.")
    private Optional<Path> output = Optional.empty();

    @Option(names = "--json", description = "The result as JSON, schema trigon.support/1.")
    private boolean json;

    public SupportCommand(Machine machine, Console console, Clock clock) {
        super(machine, console);
        this.clock = clock;
    }

    @Override
    public Integer call() throws IOException {
        for (Path log : logs) {
            if (!Files.isRegularFile(log) || !Files.isReadable(log)) {
                throw new CommandFailure("--log " + log + " is not a file that you may read; give the path of a log");
            }
        }
        Path file = output.orElseGet(() -> Path.of(usualName()));
        if (Files.exists(file)) {
            throw new CommandFailure(file + " already exists: remove it, or give another file with --output");
        }
        List<ProcessFacts> jobs = new ArrayList<>();
        Redaction redaction = Redaction.of(machine.environment());
        for (Job job : Job.all(console::note)) {
            ProcessFacts facts = ProcessFacts.of(machine, job.pid());
            Optional<Redaction> more = redaction.with(facts.environment());
            if (more.isEmpty()) {
                console.note("process " + job.pid() + " is left out: its environment names too many secrets to remove");
            } else {
                redaction = more.get();
                jobs.add(facts);
            }
        }
        try (SupportArchive archive = new SupportArchive(file, machine, console, jobs, redaction, clock.instant())) {
            archive.fill(logs);
        } catch (IOException e) {
            throw UserFiles.unwritable(file, e);
        }
        if (json) {
            printJson(
                    "trigon.support/1",
                    Json.object(
                            "file", file.toAbsolutePath().toString(),
                            "bytes", Files.size(file),
                            "processes", jobs.stream().map(ProcessFacts::pid).toList(),
                            "logs", logs.stream().map(Path::toString).toList()));
        } else {
            console.out().println(file + " has " + Files.size(file) / 1024 + " KiB. Review it before you share it.");
        }
        return 0;
    }

    private String usualName() {
        String time = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT)
                .withZone(ZoneOffset.UTC)
                .format(clock.instant());
        return "trigon-support-%s-%s.zip".formatted(machine.hostName().replaceAll("[^\\w.-]", "_"), time);
    }
}
