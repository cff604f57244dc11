package trigon.tools.plan;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import trigon.tools.console.Console;
import trigon.tools.console.Json;
import trigon.tools.console.Style;
import trigon.tools.console.Table;
import trigon.tools.console.UserFiles;
import trigon.tools.machine.Machine;

/** {@code trigon plan}: what to do with given cables. */
@Command(
        name = "plan",
        description = {
            "Plan addresses and a cluster file from the cables.",
            "Prints a subnet for each cable and addresses for its ends, the cluster file, commands, the order of"
                    + " ranks in which a ring needs no relay, and what bandwidth to expect. Changes nothing.",
            "FILE is YAML: the line \"cables:\", then a line for each cable, such as \"- a:eth1 b:eth2\".",
            "For a DGX Spark port such as enp1s0f0np0, the port's second function also gets a subnet."
        })
public final class PlanCommand implements Callable<Integer> {

    private final Machine machine;
    private final Console console;

    @Spec
    private CommandSpec spec;

    @Parameters(arity = "0..1", paramLabel = "FILE", description = "The cables.")
    private Optional<Path> file = Optional.empty();

    @Option(
            names = "--shape",
            paramLabel = "SHAPE:N",
            description = "Instead of a file: a ring, line, star or mesh of N nodes.")
    private Optional<String> shape = Optional.empty();

    @Option(
            names = "--nodes",
            split = ",",
            paramLabel = "NODE",
            description = "With --shape: the nodes' host names, in order. Default: n1, n2 and so on")
    private List<String> nodes = List.of();

    @Option(
            names = "--spark",
            description = "All nodes are DGX Sparks: names of interfaces, both functions of each port, 200 Gbit/s.")
    private boolean spark;

    @Option(
            names = "--speed",
            paramLabel = "GBITS",
            description = "Speed of a cable in Gbit/s. Default: 100, or 200 between DGX Sparks")
    private Optional<Double> speed = Optional.empty();

    @Option(names = "--base", paramLabel = "N", description = "Take addresses from 10.N.0.0/16. Default: 77")
    private int base = 77;

    @Option(
            names = "--prefix",
            paramLabel = "N",
            description = "Prefix of each subnet: 24, 30 or 31. Default: 24, or 31 for many")
    private int prefix;

    @Option(names = "--mtu", paramLabel = "BYTES", description = "MTU of the interfaces. Default: 9000")
    private int mtu = 9000;

    @Option(
            names = "--write",
            paramLabel = "FOLDER",
            description = "Write a folder for each node into this one, with apply.sh, launch.sh and files for"
                    + " netplan and NetworkManager; and cluster.yaml, cables.svg, hosts and launchers.txt for all.")
    private Optional<Path> write = Optional.empty();

    @Option(names = "--json", description = "The result as JSON, schema trigon.plan/1.")
    private boolean json;

    public PlanCommand(Machine machine, Console console) {
        this.machine = machine;
        this.console = console;
        this.spec = CommandSpec.create(); // until picocli has set it
    }

    @Override
    public Integer call() {
        if (file.isPresent() == shape.isPresent()) {
            throw wrong("give either a file with cables, or --shape; see trigon help plan");
        }
        if (file.isPresent() && !nodes.isEmpty()) {
            throw wrong("use --nodes only with --shape; a file names its own nodes");
        }
        if (speed.filter(gigabits -> !(gigabits > 0 && gigabits <= 10_000)).isPresent() || mtu < 576 || mtu > 65_535) {
            throw wrong("--speed must be above 0 and at most 10000, --mtu 576 to 65535");
        }
        Plan plan = plan();
        if (write.isPresent()) {
            write(new PlanFiles(plan, mtu).all(), write.get());
        }
        if (json) {
            console.out().print(Json.text(json(plan)));
        } else {
            print(plan);
        }
        return plan.connected() ? 0 : 1;
    }

    private Plan plan() {
        try {
            Cabling cabling = file.isPresent()
                    ? Cabling.read(file.get().toString(), UserFiles.read(file.get()), spark)
                    : Cabling.shape(shape.orElseThrow(), nodes, spark);
            OptionalDouble gigabits = speed.map(OptionalDouble::of).orElse(OptionalDouble.empty());
            return Plan.of(cabling, Subnets.of(cabling, base, prefix), gigabits);
        } catch (WrongOption e) {
            throw wrong(e.getMessage());
        }
    }

    private ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private static void write(Map<String, String> files, Path folder) {
        for (Map.Entry<String, String> each : files.entrySet()) {
            Path file = folder.toAbsolutePath().resolve(each.getKey());
            try {
                Files.createDirectories(Objects.requireNonNull(file.getParent()));
                Files.writeString(file, each.getValue());
                if (each.getKey().endsWith(PlanFiles.SCRIPT)) {
                    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
                }
            } catch (IOException e) {
                throw UserFiles.unwritable(file, e);
            }
        }
    }

    private void print(Plan plan) {
        Speeds speeds = plan.speeds();
        title("%d nodes, %d cables of %s Gbit/s"
                .formatted(
                        plan.cabling().nodes().size(),
                        speeds.wires(),
                        speeds.labels().stream()
                                .sorted()
                                .map(PlanCommand::number)
                                .collect(Collectors.joining(" or "))));
        if (speeds.isLimited()) {
            say("a cable carries %s GB/s in each direction: both ports of a DGX Spark share its PCIe links"
                    .formatted(number(speeds.leastOfWire() / 8)));
        }
        if (!plan.connected()) {
            console.out()
                    .println(console.styled(Style.BAD, "Not all nodes are connected: at least one cable is missing."));
        }
        say("pairs of nodes that need relays: " + plan.relayedPairs());
        say((plan.withoutRelay() ? "ring order without relays: " : "no ring order without relays was found; use: ")
                + String.join(",", plan.order()));
        say("expected at most: all-reduce%s %s GB/s (bus); all-to-all %s GB/s from each node"
                .formatted(
                        speeds.isLimited() ? "" : ", all-gather", number(plan.allReduce()), number(plan.allToAll())));
        plan.oneMore()
                .ifPresent(more -> say("one more cable, %s to %s: all-reduce %s GB/s, all-to-all %s GB/s"
                        .formatted(more.from(), more.to(), number(more.allReduce()), number(more.allToAll()))));
        write.ifPresentOrElse(
                folder -> {
                    say(folder + " has a folder for each node; copy each to its node, and run apply.sh as root:");
                    console.out()
                            .println("  scp -r %s/%2$s %2$s:"
                                    .formatted(folder, plan.order().getFirst()));
                },
                () -> {
                    console.out().println();
                    title("Cluster file");
                    console.out().print(plan.clusterFile());
                    console.out().println();
                    title("Commands (not run)");
                    PlanFiles files = new PlanFiles(plan, mtu);
                    plan.order().forEach(node -> {
                        console.out().println("# on " + node);
                        files.commands(node).forEach(console.out()::println);
                    });
                });
    }

    private void say(String text) {
        Table.wrap(text, console.width()).forEach(console.out()::println);
    }

    private void title(String text) {
        console.out().println(console.styled(Style.STRONG, text));
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.1f", value).replaceFirst("\\.0$", "");
    }

    private Map<String, Object> json(Plan plan) {
        return machine.document(
                "trigon.plan/1",
                "nodes",
                plan.subnets().byNode().entrySet().stream()
                        .map(node -> Json.object(
                                "name",
                                node.getKey(),
                                "nics",
                                node.getValue().stream()
                                        .map(nic -> Json.object("device", nic.nic(), "address", nic.address()))
                                        .toList()))
                        .toList(),
                "order",
                List.copyOf(plan.order()),
                "ringWithoutRelay",
                plan.withoutRelay(),
                "connected",
                plan.connected(),
                "relayedPairs",
                plan.relayedPairs(),
                "cableGBps",
                plan.speeds().leastOfWire() / 8,
                "allReduceGBps",
                plan.allReduce(),
                "allToAllGBps",
                plan.allToAll(),
                "oneMore",
                plan.oneMore()
                        .map(more -> Json.object(
                                "from",
                                more.from(),
                                "to",
                                more.to(),
                                "allReduceGBps",
                                more.allReduce(),
                                "allToAllGBps",
                                more.allToAll())));
    }
}
