package trigon.tools.demo;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.system.file.Folder;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.Choice;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.Termination;
import trigon.tools.console.UserFiles;
import trigon.tools.demo.DemoCluster.Links;
import trigon.tools.demo.DemoCluster.Shape;
import trigon.tools.demo.ShapeDemo.Test;

/** {@code trigon demo}: whether the plugin works on this machine, and whether it does when a cable is cut. */
@Command(
        name = "demo",
        description = {
            "Run an all-reduce through the plugin on this machine.",
            "Three to nine processes, the nodes of a cluster in which each cable is a subnet of its own, load the"
                    + " plugin as NCCL does and run a ring all-reduce over float32. Exit status 0 only if every"
                    + " element was right on every rank.",
            "--cut without a value is another demo: each two of three nodes have two cables, and one of them is cut"
                    + " under the running all-reduce and comes back. It takes --bytes, --away, --logs, --json. It runs"
                    + " in network namespaces where the user may make some, and takes an interface down there;"
                    + " elsewhere on 127.0.0.0/8, where it ends the cable's TCP connections."
        })
public final class DemoCommand extends ToolCommand {

    /** Columns by which a line that goes on is indented, beside the line's own. */
    static final int INDENT = 3;

    private static final String APART = "--apart";
    private static final Set<String> OF_THE_CUT = Set.of("--cut", "--bytes", "--away", "--logs", "--json", APART);
    private static final long BYTES = 4_194_304;
    private static final long BYTES_OF_THE_CUT = 1_048_576;
    private static final int SECONDS_AWAY = 3;
    private static final int MAX_SECONDS_AWAY = 99;

    @Option(
            names = "--shape",
            paramLabel = "SHAPE",
            converter = Shapes.class,
            description = "The cables: triangle; of four nodes ring4 (a-b-c-d-a), line4 (a-b-c-d) or star4 (around a);"
                    + " line7, ring8, or torus3x3 (rows abc, def and ghi). Nodes without a cable are connected through"
                    + " others. The lab's devices are of the triangle. Default: triangle")
    private Shape shape = Shape.TRIANGLE;

    @Option(
            names = "--cut",
            arity = "0..1",
            paramLabel = "X-Y",
            description = "Leave out a cable, for example a-b. Without a value: cut one during the run.")
    private Optional<String> cut = Optional.empty();

    @Option(
            names = "--test",
            paramLabel = "TEST",
            converter = Tests.class,
            description = "ring: the all-reduce; all-to-all: messages from each rank to each other. Default: ring")
    private Test test = Test.RING;

    @Option(
            names = "--order",
            paramLabel = "NODES",
            description = "The nodes in the order of their ranks, for example abdc.")
    private Optional<String> order = Optional.empty();

    @Option(
            names = "--links",
            paramLabel = "LINKS",
            converter = Kinds.class,
            description = "software: TCP on loopback addresses, without root; rdma: the devices rxe_ab, rxe_ac, rxe_ba,"
                    + " rxe_bc, rxe_ca and rxe_cb, as the lab makes them; simulated: RDMA devices that are no"
                    + " hardware, without root where users may make namespaces; auto: RDMA where those of the lab are."
                    + " Default: auto")
    private Links links = Links.AUTO;

    @Option(
            names = "--bytes",
            paramLabel = "N",
            description = "Size of the buffer that is reduced. Default: 4194304; with --cut alone 1048576")
    private Optional<Long> bytes = Optional.empty();

    @Option(names = "--iterations", paramLabel = "N", description = "Number of all-reduces. Default: 10")
    private int iterations = 10;

    @Option(
            names = "--away",
            paramLabel = "SECONDS",
            description = "With --cut alone: how long the cable is cut. Default: 3")
    private Optional<Integer> away = Optional.empty();

    @Option(
            names = "--logs",
            paramLabel = "DIRECTORY",
            description = "Keep the configuration and each rank's log in this folder.")
    private Optional<Path> logs = Optional.empty();

    @Option(
            names = "--handshake-timeout",
            paramLabel = "DURATION",
            description = "How long a rank waits for another's answer; longer where processors are emulated."
                    + " Default: 10s")
    private String handshakeTimeout = "10s";

    @Option(
            names = "--json",
            description = "The result as JSON, schema trigon.demo/1; what the demo says meanwhile goes to stderr.")
    private boolean json;

    @Option(names = APART, hidden = true, description = "Network namespaces have been created.")
    private boolean apart;

    public DemoCommand(Machine machine, Console console) {
        super(machine, console);
    }

    static final class Shapes extends Choice<Shape> {
        Shapes() {
            super(Shape.values());
        }
    }

    static final class Tests extends Choice<Test> {
        Tests() {
            super(Test.values());
        }
    }

    static final class Kinds extends Choice<Links> {
        Kinds() {
            super(Links.values());
        }
    }

    /** One of the demos, in a folder for its settings and logs. */
    @FunctionalInterface
    private interface Demo {
        /** Returns the result, for JSON. */
        Map<String, Object> run(Path folder) throws IOException, InterruptedException;
    }

    @Override
    public Integer call() throws IOException {
        try (var _ = new Termination()) {
            return cut.equals(Optional.of("")) ? cutWhileItRuns() : runShape();
        } catch (InterruptedException _) {
            return 1;
        }
    }

    private int cutWhileItRuns() throws IOException, InterruptedException {
        for (OptionSpec option : spec.commandLine().getParseResult().matchedOptions()) {
            check(
                    OF_THE_CUT.contains(option.longestName()),
                    "--cut without a cable does not go with " + option.longestName());
        }
        long size = bytes.orElse(BYTES_OF_THE_CUT);
        check(size > 0, "--bytes is " + size + ": must be at least 1");
        int seconds = away.orElse(SECONDS_AWAY);
        check(
                seconds > 0 && seconds <= MAX_SECONDS_AWAY,
                "--away is " + seconds + ": must be 1 to " + MAX_SECONDS_AWAY);
        if (!apart) {
            Optional<List<String>> words = inNamespaces(CutDemo.cluster(true).namespaces());
            if (words.isPresent()) {
                return runApart(words.get());
            }
        }
        CutDemo demo = new CutDemo(apart, size, Duration.ofSeconds(seconds));
        return inFolder(folder -> demo.run(new DemoRanks(machine, home(), folder.resolve("cut")), meanwhile()));
    }

    private int runShape() throws IOException, InterruptedException {
        Links kind = links;
        if (kind == Links.AUTO && Files.exists(machine.file("sys/class/infiniband/rxe_ab"))) {
            kind = Links.RDMA;
        }
        if (kind == Links.AUTO || (kind == Links.RDMA && shape != Shape.TRIANGLE)) {
            kind = Links.SOFTWARE;
        }
        Optional<String> missing = cut.map(this::cable);
        check(away.isEmpty(), "--away goes with --cut without a cable");
        check(bytes.orElse(BYTES) >= 0, "--bytes is " + bytes.orElse(BYTES) + ": must be at least 0");
        check(iterations > 0, "--iterations is " + iterations + ": must be at least 1");
        check(
                handshakeTimeout.matches("[1-9][0-9]*(ms|s|m)"),
                "--handshake-timeout is " + handshakeTimeout + ": must be a number with ms, s or m");
        String ranks = order.orElse(shape.nodes());
        check(
                ranks.chars()
                        .sorted()
                        .mapToObj(Character::toString)
                        .collect(Collectors.joining())
                        .equals(shape.nodes()),
                "--order is " + ranks + ": must name each node of " + shape.nodes() + " once");
        DemoCluster cluster = DemoCluster.of(shape, missing, kind);
        if (kind == Links.SIMULATED && !apart) {
            return simulate(cluster);
        }
        String layout = shape + cut.map(cable -> " without " + cable).orElse("");
        ShapeDemo demo = new ShapeDemo(layout, kind, ranks, test, bytes.orElse(BYTES), iterations, handshakeTimeout);
        return inFolder(folder -> {
            Map<String, Object> result =
                    demo.run(new DemoRanks(machine, home(), folder.resolve("ranks")), meanwhile(), cluster);
            if (Boolean.TRUE.equals(result.get("good"))) {
                meanwhile().say("Every element was right on every rank.");
            }
            return result;
        });
    }

    /** The devices' addresses are on the loopback interface of a namespace. */
    private int simulate(DemoCluster cluster) throws IOException, InterruptedException {
        Path device = home().resolve("libexec/simulated/libibverbs.so.1");
        if (!Files.isReadable(device)) {
            throw new CommandFailure(
                    "--links simulated: no " + device + ": the machine that built this had no <infiniband/verbs.h>");
        }
        return runApart(inNamespaces(cluster.addresses())
                .orElseThrow(() -> new CommandFailure("--links simulated: takes the program ip, and a network"
                        + " namespace, which this user cannot make; root can")));
    }

    private int runApart(List<String> words) throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of(home().resolve("bin/trigon").toString()));
        command.addAll(spec.root().commandLine().getParseResult().originalArgs());
        command.add(APART);
        return wait(new ProcessBuilder(joined(words, command)).inheritIO());
    }

    /**
     * The words that run a command in namespaces of its own, for mounts and networks, which go with the processes in
     * them: as root, or as a user who is root there alone.
     *
     * @param setup for sh: comes before the command
     * @return empty if this user cannot make such namespaces, or the setup fails in them
     */
    private static Optional<List<String>> inNamespaces(String setup) throws InterruptedException {
        for (String kind : List.of("-mn", "-Urmn")) {
            List<String> words = List.of("unshare", kind, "sh", "-c", setup + " && exec \"$@\"", "sh");
            try {
                ProcessBuilder trial = new ProcessBuilder(joined(words, List.of("true")));
                if (wait(trial.redirectErrorStream(true).redirectOutput(Redirect.DISCARD)) == 0) {
                    return Optional.of(words);
                }
            } catch (IOException _) {
                return Optional.empty(); // no unshare
            }
        }
        return Optional.empty();
    }

    private static int wait(ProcessBuilder command) throws IOException, InterruptedException {
        Process process = command.start();
        try {
            return process.waitFor();
        } finally {
            process.destroy();
        }
    }

    private static List<String> joined(List<String> words, List<String> command) {
        return Stream.concat(words.stream(), command.stream()).toList();
    }

    /** Output for the steps of a demo. */
    private Console meanwhile() {
        return json ? new Console(console.err(), console.err(), false, false, console.width()) : console;
    }

    private int inFolder(Demo demo) throws IOException, InterruptedException {
        Path folder = logs.isPresent() ? made(logs.get()) : Files.createTempDirectory("trigon-demo");
        boolean keep = logs.isPresent();
        try {
            Map<String, Object> run = demo.run(folder);
            boolean right = Boolean.TRUE.equals(run.get("good"));
            if (json) {
                printJson("trigon.demo/1", Json.object("good", right, "runs", List.of(run)));
            }
            if (!right) {
                keep = true;
                console.err().println("FAILED. Configuration and logs are in " + folder);
            }
            return right ? 0 : 1;
        } finally {
            if (!keep) {
                Folder.delete(folder);
            }
        }
    }

    private static Path made(Path folder) {
        try {
            return Files.createDirectories(folder).toRealPath();
        } catch (IOException e) {
            throw UserFiles.unwritable(folder, e);
        }
    }

    private String cable(String ends) {
        return shape.cables().stream()
                .filter(each -> ends.equals(each.charAt(0) + "-" + each.charAt(1))
                        || ends.equals(each.charAt(1) + "-" + each.charAt(0)))
                .findFirst()
                .orElseThrow(() -> wrong(
                        "--cut is " + ends + ": " + shape + " has the cables " + String.join(" ", shape.cables())));
    }

    private void check(boolean right, String message) {
        if (!right) {
            throw wrong(message);
        }
    }
}
