package trigon.tools.doctor;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import trigon.system.InterfaceAddress;
import trigon.tools.console.Console;
import trigon.tools.console.Json;
import trigon.tools.console.UserFiles;
import trigon.tools.machine.Machine;
import trigon.tools.probe.Examination;
import trigon.tools.probe.LocalNode;
import trigon.tools.probe.NodeConnection;
import trigon.tools.probe.Observations;
import trigon.tools.probe.ReachOptions;
import trigon.tools.probe.RemoteNode;
import trigon.tools.probe.RenamedNode;

/** Which nodes are examined, and how they are reached. */
final class NodesOptions {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Option(
            names = "--nodes",
            split = ",",
            paramLabel = "NODE",
            description = "The nodes, by their ssh names. Default: this machine. This machine is included only if"
                    + " its host name is listed.")
    private List<String> nodes = List.of();

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create(); // until picocli has set it

    @Mixin
    private ReachOptions reach = new ReachOptions();

    /** Nodes that are called by their host names, and the addresses that the user has given for them. */
    private final Map<String, String> reachedBy = new HashMap<>();

    /**
     * Has the nodes look at themselves and at each other; without names, this machine alone.
     *
     * @param rate whether to measure how fast each link is
     * @throws ParameterException if a name is none
     */
    Observations examine(Machine machine, Console console, boolean rate) throws IOException {
        List<String> names = nodes.isEmpty() ? List.of(machine.hostName()) : nodes;
        for (String name : names) {
            if (!ReachOptions.isName(name)) {
                throw new ParameterException(spec.commandLine(), ReachOptions.noName(name));
            }
        }
        List<NodeConnection> connections = new ArrayList<>();
        Map<String, String> failed = new LinkedHashMap<>();
        try {
            for (String name : names) {
                if (name.equals(machine.hostName())) {
                    connections.add(new LocalNode(name, machine));
                    continue;
                }
                try {
                    connections.add(
                            RemoteNode.start(reach.via(), reach.trigon(machine, List.of("agent")), name, PATIENCE));
                } catch (IOException e) {
                    failed.put(name, "cannot run " + reach.via().getFirst() + ": " + UserFiles.reason(e));
                }
            }
            callByHostNames(connections);
            return with(failed, new Examination(connections, console, rate).run());
        } finally {
            for (NodeConnection each : connections) {
                each.close();
            }
        }
    }

    /** Those that were named by an address, unless a name would be there twice, or the node does not answer. */
    private void callByHostNames(List<NodeConnection> connections) {
        for (int i = 0; i < connections.size(); i++) {
            NodeConnection node = connections.get(i);
            if (!isAddress(node.name())) {
                continue;
            }
            try {
                String host = node.ask(Json.object("do", "facts")).text("host");
                if (!host.isEmpty()
                        && connections.stream().noneMatch(each -> each.name().equals(host))) {
                    connections.set(i, new RenamedNode(host, node));
                    reachedBy.put(host, node.name());
                }
            } catch (IOException _) {
                // the examination says so
            }
        }
    }

    private static boolean isAddress(String name) {
        try {
            var _ = InterfaceAddress.parseAddress(name);
            return true;
        } catch (IllegalArgumentException _) {
            return false;
        }
    }

    /** A remedy's command as it is typed here: for another node, by what reaches it. */
    String typed(Machine machine, String node, String command) {
        String name = reachedBy.getOrDefault(node, node);
        return node.equals(machine.hostName()) || !nodes.contains(name) ? command : reach.typed(name, command);
    }

    private static Observations with(Map<String, String> failed, Observations seen) {
        Map<String, String> silent = new LinkedHashMap<>(failed);
        silent.putAll(seen.silent());
        return new Observations(seen.facts(), silent, seen.clocks(), seen.heard(), seen.probes(), seen.rate());
    }
}
