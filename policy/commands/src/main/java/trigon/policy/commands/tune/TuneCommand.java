package trigon.policy.commands.tune;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import trigon.cluster.machine.Machine;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.Count;
import trigon.tools.console.UserFiles;
import trigon.tools.nodes.ReachOptions;

/** {@code trigon tune}: what the links can do, and a policy of the choices that were faster than the usual ones. */
@Command(
        name = "tune",
        description = {
            "Measure links, or make a policy of a program's best choices.",
            "Without a program: what a message costs and how fast bytes go, over 1, 2 and 4 connections at once.",
            "With a program: runs it twice. In the first run, half of its collectives try other algorithms, protocols"
                    + " and numbers of channels; in the second one, those that were 5 percent faster take turns"
                    + " with the usual ones. What gains 3 percent again becomes a policy. Times are from the end of a"
                    + " collective to the end of the next one like it: the program has to call such in a row, some"
                    + " 1000 times. It is started by your own"
                    + " launcher, which has to pass TRIGON_POLICY and TRIGON_TRACE on to all nodes, as in: trigon"
                    + " tune --nodes a,b --out /etc/trigon/tuned.o -- mpirun -x TRIGON_POLICY -x TRIGON_TRACE ./train"
        })
public final class TuneCommand extends ToolCommand {

    private static final String EXAMPLES = "policy/examples";

    @Option(
            names = "--nodes",
            split = ",",
            paramLabel = "NODE",
            description = "The nodes, by their ssh names, and this machine's host name. With a program, the policy is"
                    + " copied to them; without, the file has to be on a file system that all share.")
    private List<String> nodes = List.of();

    @Mixin
    private ReachOptions reach = new ReachOptions();

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "With a program: the policy to write. Its folder has to exist on all nodes.")
    private Optional<Path> out = Optional.empty();

    @Option(
            names = "--traces",
            paramLabel = "DIR",
            description = "With a program: folder for the traces; must not exist. Default: trigon-tune-TIME here.")
    private Optional<Path> traces = Optional.empty();

    @Parameters(
            arity = "0..*",
            paramLabel = "PROGRAM",
            description = "After --: the program with its launcher and its arguments.")
    private final List<String> program = new ArrayList<>();

    public TuneCommand(Machine machine, Console console) {
        super(machine, console);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        for (String node : nodes) {
            if (!ReachOptions.isName(node)) {
                throw wrong(ReachOptions.noName(node));
            }
        }
        if (program.isEmpty()) {
            if (out.isPresent() || traces.isPresent()) {
                throw wrong("--out and --traces need a program: trigon tune --out FILE -- PROGRAM");
            }
            return new LinkRates(machine, console).measure(nodes, reach);
        }
        if (!nodes.isEmpty() && !nodes.contains(machine.hostName())) {
            throw wrong("--nodes has %s: this machine must be one of them: %s"
                    .formatted(String.join(",", nodes), machine.hostName()));
        }
        return tune(out.orElseThrow(() -> wrong("with a program, --out has to name the policy to write"))
                .toAbsolutePath());
    }

    private int tune(Path file) throws IOException, InterruptedException {
        byte[] shipped = Files.readAllBytes(home().resolve(EXAMPLES).resolve("tuning.o"));
        Path folder = traces.orElseGet(() -> Path.of("trigon-tune-" + now())).toAbsolutePath();
        if (Files.exists(folder)) {
            throw new CommandFailure(folder + " already exists; give another folder with --traces");
        }
        checkFolder(file);
        TunedProgram tuned = new TunedProgram(machine, program);
        console.note("first run: other choices are tried");
        TracedRun first = tuned.run(home().resolve(EXAMPLES).resolve("explore.o"), folder.resolve("first"));
        List<Row> rows = Selection.explored(checked(first).samples(), TableObject.MAX_ROWS);
        if (rows.isEmpty()) {
            return TuneText.nothing(first, console);
        }
        console.note("second run: " + Count.of(rows.size(), "choice") + " and the usual ones take turns");
        TableFile inTurns = tableFile(file.resolveSibling(file.getFileName() + ".turns"));
        List<Row> gained;
        try {
            inTurns.write(TableObject.of("turns", shipped, rows, true, "{}"));
            TracedRun second = tuned.run(inTurns.path(), folder.resolve("second"));
            gained = Selection.confirmed(rows, checked(second).samples());
        } finally {
            inTurns.delete();
        }
        if (gained.isEmpty()) {
            return TuneText.nothing(first, console);
        }
        tableFile(file)
                .write(TableObject.of(String.valueOf(file.getFileName()), shipped, gained, false, tuned.madeFor()));
        TuneText.print(gained, file, console);
        return 0;
    }

    private TableFile tableFile(Path path) {
        List<String> others =
                nodes.stream().filter(node -> !node.equals(machine.hostName())).toList();
        return new TableFile(path, others, reach);
    }

    /** Before the program runs for hours: the result can be written. */
    private static void checkFolder(Path file) throws IOException {
        boolean wasThere = Files.exists(file);
        UserFiles.checkWritable(file);
        if (!wasThere) {
            Files.delete(file);
        }
    }

    private static TracedRun checked(TracedRun run) {
        if (!run.problem().isEmpty()) {
            throw new CommandFailure(run.problem());
        }
        return run;
    }

    private static String now() {
        return LocalDateTime.now(ZoneId.systemDefault()).format(DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss"));
    }
}
