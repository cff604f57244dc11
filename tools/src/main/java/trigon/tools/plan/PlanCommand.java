package trigon.tools.plan;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import trigon.cluster.diagnosis.FreeAddresses;
import trigon.cluster.machine.Machine;
import trigon.cluster.probe.Observations;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.UserFiles;
import trigon.tools.doctor.Cables;
import trigon.tools.nodes.ExaminedNodes;
import trigon.tools.nodes.ReachOptions;

/** {@code trigon plan}: what to do with given cables. */
@Command(
        name = "plan",
        description = {
            "Plan addresses and a cluster file from the cables.",
            "Prints a subnet for each cable and addresses for its ends, the cluster file, commands, the order of"
                    + " ranks in which a ring needs no relay, and what bandwidth to expect. Changes nothing.",
            "With --nodes alone, the nodes are asked for their cables, as by \"trigon doctor\".",
            "FILE is YAML: the line \"cables:\", then a line for each cable, such as \"- a:eth1 b:eth2\". The line"
                    + " \"machines: dgx-spark\" says that the nodes are DGX Sparks, whose ports have two functions.",
            "A cable whose ends share a subnet of their own keeps it. Other addresses are replaced."
        })
public final class PlanCommand extends ToolCommand {

    @Parameters(arity = "0..1", paramLabel = "FILE", description = "The cables.")
    private Optional<Path> file = Optional.empty();

    @Option(
            names = "--shape",
            paramLabel = "SHAPE",
            description = "Instead of a file: ring8, line7, star5, mesh4 (of so many nodes), torus4x4, torus4x4x4,"
                    + " hypercube6, dragonfly9x4 (groups, nodes of each) or stars7x8 (hubs, nodes of each).")
    private Optional<String> shape = Optional.empty();

    @Option(
            names = "--nodes",
            split = ",",
            paramLabel = "NODE",
            description = "The nodes, by their ssh names, which are asked. With --shape: their host names, in"
                    + " order. Default: n1, n2 and so on")
    private List<String> nodes = List.of();

    @Mixin
    private ReachOptions reach = new ReachOptions();

    @Option(names = "--spark", description = "All nodes are DGX Sparks, as by \"machines: dgx-spark\" in the file.")
    private boolean spark;

    @Option(
            names = "--speed",
            paramLabel = "GBITS",
            description = "Speed of a cable in Gbit/s. Default: 100, or 200 between DGX Sparks")
    private Optional<Double> speed = Optional.empty();

    @Option(
            names = "--ports",
            paramLabel = "N",
            description = "Ports of each node, for the cable that is to be bought next. Default: as many as it takes;"
                    + " a DGX Spark has 2")
    private int ports = Integer.MAX_VALUE;

    @Option(names = "--base", paramLabel = "N", description = "Take addresses from 10.N.0.0/16. Default: 77")
    private int base = FreeAddresses.USUAL_BASE;

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
                    + " what keeps addresses there, such as netplan; and cluster.yaml, cables.svg, hosts and"
                    + " launchers.txt for all.")
    private Optional<Path> write = Optional.empty();

    @Option(names = "--json", description = "The result as JSON, schema trigon.plan/1.")
    private boolean json;

    public PlanCommand(Machine machine, Console console) {
        super(machine, console);
    }

    @Override
    public Integer call() throws IOException {
        if (file.isPresent() && (shape.isPresent() || !nodes.isEmpty())) {
            throw wrong("a file names its cables and nodes: leave out --shape and --nodes, or the file");
        }
        if (file.isEmpty() && shape.isEmpty() && nodes.isEmpty()) {
            throw wrong("there is nothing to plan. \"trigon plan --nodes a,b,c\" asks nodes by ssh, \"trigon plan"
                    + " cables.yaml\" reads a list of cables, and \"trigon plan --shape ring:3\" needs neither");
        }
        nodes.stream().filter(name -> !ReachOptions.isName(name)).findFirst().ifPresent(name -> {
            throw wrong(ReachOptions.noName(name));
        });
        if (speed.filter(gigabits -> !(gigabits > 0 && gigabits <= 10_000)).isPresent() || mtu < 576 || mtu > 65_535) {
            throw wrong("--speed must be above 0 and at most 10000, --mtu 576 to 65535");
        }
        Plan plan = plan();
        if (write.isPresent()) {
            write(new PlanFiles(plan, mtu).all(), write.get());
        }
        if (json) {
            printJson("trigon.plan/1", PlanText.json(plan));
        } else {
            new PlanText(console, mtu, write).print(plan);
        }
        return plan.connected() ? 0 : 1;
    }

    private Plan plan() throws IOException {
        try {
            Cabling cabling = file.isPresent()
                    ? Cabling.read(file.get().toString(), UserFiles.read(file.get()), spark)
                    : shape.isPresent() ? Cabling.shape(shape.get(), nodes, spark) : asked();
            cabling.nodes().stream()
                    .filter(node -> cabling.usedPorts(node) > ports)
                    .findFirst()
                    .ifPresent(node -> {
                        throw wrong("--ports is %d: %s has %d cables".formatted(ports, node, cabling.usedPorts(node)));
                    });
            return Plan.of(cabling, Subnets.of(cabling, base, prefix), speed, ports);
        } catch (IllegalArgumentException e) {
            throw wrong(String.valueOf(e.getMessage()));
        }
    }

    /** The cables that the nodes find. */
    private Cabling asked() throws IOException {
        Observations seen = new ExaminedNodes(machine, nodes, reach).examine(console, false);
        if (!seen.silent().isEmpty()) {
            throw new CommandFailure("not all nodes can be asked: %s; \"trigon doctor --nodes %s\" says more"
                    .formatted(
                            seen.silent().entrySet().stream()
                                    .map(node -> node.getKey() + ": " + node.getValue())
                                    .collect(Collectors.joining("; ")),
                            String.join(",", nodes)));
        }
        if (Cables.of(seen).stream().allMatch(cable -> isNeeded(seen, cable))) {
            throw new CommandFailure(("no cable joins %s: no interface hears another node's. Bring the interfaces up,"
                            + " and let UDP through; \"trigon doctor --nodes %1$s\" says more")
                    .formatted(String.join(",", nodes)));
        }
        return Cabling.of(seen, end -> !Cables.isNeeded(seen, end), List.of(), spark);
    }

    private static boolean isNeeded(Observations seen, Cables.Cable cable) {
        return Cables.isNeeded(seen, cable.from()) || Cables.isNeeded(seen, cable.to());
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
}
