package trigon.tools.nodes;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.cluster.probe.Examination;
import trigon.cluster.probe.NodeConnection;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.RemoteNode;
import trigon.system.InterfaceAddress;
import trigon.tools.console.Console;
import trigon.tools.console.UserFiles;

/** Nodes that are asked about themselves and each other. One thread. */
public final class ExaminedNodes {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Machine machine;
    private final List<String> names;
    private final ReachOptions reach;

    /** Nodes that are called by their host names, and the addresses that the user has given for them. */
    private final Map<String, String> reachedBy = new HashMap<>();

    private boolean asNamed;

    /**
     * None of them is asked yet.
     *
     * @param machine this one, which is asked without a connection if it is among them
     * @param names of nodes, as {@code reach} reaches them
     */
    public ExaminedNodes(Machine machine, List<String> names, ReachOptions reach) {
        this.machine = machine;
        this.names = List.copyOf(names);
        this.reach = reach;
    }

    /** The same nodes, of which also those that were named by an address keep this name. */
    public ExaminedNodes asNamed() {
        ExaminedNodes same = new ExaminedNodes(machine, names, reach);
        same.asNamed = true;
        return same;
    }

    /**
     * Has the nodes look at themselves and at each other.
     *
     * @param rate true to measure how fast each link is
     */
    public Observations examine(Console console, boolean rate) throws IOException {
        List<NodeConnection> connections = new ArrayList<>();
        Map<String, String> failed = new LinkedHashMap<>();
        try {
            for (String name : names) {
                if (name.equals(machine.hostName())) {
                    connections.add(new NodeConnection.Local(name, machine));
                    continue;
                }
                try {
                    connections.add(
                            RemoteNode.start(reach.via(), reach.trigon(machine, List.of("agent")), name, PATIENCE));
                } catch (IOException e) {
                    failed.put(name, "cannot run " + reach.via().getFirst() + ": " + UserFiles.reason(e));
                }
            }
            if (!asNamed) {
                callByHostNames(connections);
            }
            return with(failed, new Examination(connections, console::doing, rate).run());
        } finally {
            console.done();
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
                    connections.set(i, new NodeConnection.Renamed(host, node));
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

    /** The name or address that the user has typed for a node. */
    public String reachedName(String node) {
        return reachedBy.getOrDefault(node, node);
    }

    private static Observations with(Map<String, String> failed, Observations seen) {
        Map<String, String> silent = new LinkedHashMap<>(failed);
        silent.putAll(seen.silent());
        return new Observations(seen.facts(), silent, seen.clocks(), seen.heard(), seen.probes(), seen.rate());
    }
}
