package trigon.tools.doctor;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.machine.Machine;
import trigon.tools.probe.Examination;
import trigon.tools.probe.LocalNode;
import trigon.tools.probe.NodeConnection;
import trigon.tools.probe.Observations;
import trigon.tools.probe.RemoteNode;

/** Which nodes are examined, and how they are reached. */
final class NodesOptions {

    @Option(
            names = "--nodes",
            split = ",",
            paramLabel = "NODE",
            description =
                    "The nodes, as ssh knows them. Without it, this machine alone. This machine is one of them if its"
                            + " host name is.")
    private List<String> nodes = List.of();

    @Option(
            names = "--via",
            paramLabel = "PROGRAM",
            description = "How a command is started on a node: the node's name and the command follow. Default:"
                    + " ssh -o BatchMode=yes -o ConnectTimeout=5")
    private String via = "ssh -o BatchMode=yes -o ConnectTimeout=5";

    @Option(
            names = "--remote",
            paramLabel = "PATH",
            description = "Where trigon is on the other nodes; otherwise in the same folder as here.")
    private String remote = "";

    /** Examines them. */
    Observations examine(Machine machine, Console console, boolean rate) throws IOException {
        List<String> names = nodes.isEmpty() ? List.of(machine.hostName()) : nodes;
        List<NodeConnection> connections = new ArrayList<>();
        Map<String, String> failed = new LinkedHashMap<>();
        try {
            for (String name : names) {
                if (name.isBlank() || name.startsWith("-")) {
                    throw new CommandFailure("--nodes has \"" + name + "\", which is no name of a node");
                }
                if (name.equals(machine.hostName())) {
                    connections.add(new LocalNode(name, machine));
                    continue;
                }
                try {
                    connections.add(RemoteNode.start(List.of(via.strip().split("\\s+")), agent(machine), name));
                } catch (IOException e) {
                    failed.put(name, "cannot run " + via + ": " + e.getMessage());
                }
            }
            return with(failed, new Examination(connections, console, rate).run());
        } finally {
            for (NodeConnection each : connections) {
                each.close();
            }
        }
    }

    private static Observations with(Map<String, String> failed, Observations seen) {
        Map<String, String> silent = new LinkedHashMap<>(failed);
        silent.putAll(seen.silent());
        return new Observations(seen.facts(), silent, seen.clocks(), seen.heard(), seen.probes(), seen.rate());
    }

    private List<String> agent(Machine machine) {
        String program = remote.isEmpty()
                ? machine.home()
                        .map(home -> home.resolve("bin/trigon").toString())
                        .orElseThrow(() -> new CommandFailure("--remote has to say where trigon is on the other nodes"))
                : remote;
        return List.of(program, "agent");
    }
}
