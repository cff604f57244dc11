package trigon.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import trigon.tools.console.CommandFailure;
import trigon.tools.machine.Machine;

/**
 * A command that {@code bin/trigon} has in its own script. It is here for the help, the completion and the manual, and
 * hands everything on where it is started from Java.
 */
final class DelegatedCommand implements Callable<Integer> {

    private final Machine machine;
    private final CommandSpec spec;

    private DelegatedCommand(Machine machine, String name, List<String> description, List<OptionSpec> options) {
        this.machine = machine;
        this.spec = CommandSpec.wrapWithoutInspection(this).name(name);
        spec.usageMessage().description(description.toArray(String[]::new));
        options.forEach(spec::addOption);
    }

    /** The commands that the shell script {@code bin/trigon} carries out, for the overview and the help. */
    static List<CommandLine> all(Machine machine) {
        return List.of(demo(machine), train(machine));
    }

    private static CommandLine demo(Machine machine) {
        List<String> description = List.of(
                "Run an all-reduce by the plugin on this machine.",
                "Three or four processes, the nodes of a cluster in which each cable is a subnet of its own, load the"
                        + " plugin as NCCL does and run a ring all-reduce over float32. Exit status 0 only if every"
                        + " element was right on every rank.",
                "--cut without a value is another demo: each two of three nodes have two cables, and one of them is cut"
                        + " under the running all-reduce and comes back. It takes --bytes, --away and --logs. It runs"
                        + " in network namespaces where the user may make some, and takes an interface down there;"
                        + " elsewhere on 127.0.0.0/8, where it ends the cable's TCP connections.");
        return command(
                machine,
                "demo",
                description,
                option(
                        "--shape",
                        "SHAPE",
                        "The cables: triangle, or of four nodes ring4 (a-b-c-d-a), line4 (a-b-c-d) or star4 (around a)."
                                + " Nodes without a cable are connected through others. Four nodes have none of the"
                                + " lab's. Default: triangle"),
                OptionSpec.builder("--cut")
                        .type(String.class)
                        .arity("0..1")
                        .paramLabel("X-Y")
                        .description("Leave out a cable, for example a-b. Without a value: cut one while it runs.")
                        .build(),
                option(
                        "--test",
                        "TEST",
                        "ring: the all-reduce; all-to-all: messages from each rank to each other. Default: ring"),
                option(
                        "--order",
                        "NODES",
                        "The nodes in the order of their ranks, for example abdc; \"all\" runs all that differ."),
                option(
                        "--links",
                        "LINKS",
                        "software: TCP on loopback addresses, without root; rdma: the devices rxe_ab, rxe_ac, rxe_ba,"
                                + " rxe_bc, rxe_ca and rxe_cb, as the lab makes them; simulated: RDMA devices that are"
                                + " no hardware, without root where users may make namespaces; auto: RDMA where those"
                                + " of the lab are. Default: auto"),
                option(
                        "--bytes",
                        "N",
                        "Size of the buffer that is reduced. Default: 4194304; with --cut alone 1048576"),
                option("--iterations", "N", "How often. Default: 10"),
                option(
                        "--cables",
                        "N",
                        "Which NIC each node lists first: 0 to 7, a bit for each node; \"all\" runs all. Default: 0"),
                option("--away", "SECONDS", "With --cut alone: how long the cable is cut. Default: 3"),
                option("--logs", "DIRECTORY", "Keep the configuration and each rank's log there."),
                option(
                        "--handshake-timeout",
                        "DURATION",
                        "How long a rank waits for another's answer; longer where processors are emulated."
                                + " Default: 10s"));
    }

    private static CommandLine train(Machine machine) {
        List<String> description = List.of(
                "Make the AOT caches, by which processes start faster.",
                "They are lib/*.aot of the distribution, and halve the time of a start. A distribution that was built"
                        + " on its own kind of processor has them. One for another processor gets them here, on a"
                        + " machine of that kind: once, before the folder is copied to the others. Takes some 20 s.");
        return command(machine, "train", description);
    }

    private static CommandLine command(Machine machine, String name, List<String> description, OptionSpec... options) {
        return new CommandLine(new DelegatedCommand(machine, name, description, List.of(options)).spec);
    }

    private static OptionSpec option(String name, String label, String description) {
        return OptionSpec.builder(name)
                .type(String.class)
                .paramLabel(label)
                .description(description)
                .build();
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path script = machine.home()
                .map(home -> home.resolve("bin/trigon"))
                .filter(Files::isExecutable)
                .orElseThrow(() -> new CommandFailure(spec.name()
                        + " is a command of a distribution: run bin/trigon of one, or ./trigon of a checkout"));
        List<String> command = new ArrayList<>(List.of(script.toString()));
        command.addAll(spec.root().commandLine().getParseResult().originalArgs());
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }
}
