package trigon.tools.explain;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.cluster.machine.Machine;
import trigon.config.PluginConfig;
import trigon.config.cluster.ClusterConfig;
import trigon.config.cluster.NicConfig;
import trigon.config.cluster.NodeConfig;
import trigon.config.file.ConfigLoader;
import trigon.routing.discovery.HostInterface;
import trigon.routing.discovery.HostInterfaces;
import trigon.routing.discovery.LinkDiscovery;
import trigon.routing.table.RoutingTable;
import trigon.system.InterfaceAddress;
import trigon.tools.console.CommandFailure;

/**
 * Routing by the cluster file alone, as far as it has addresses: that of another node, whose addresses are up and which
 * has no other routes, and the relays between nodes.
 */
final class FileRouting {

    /** Assumed where the file says nothing, as routing assumes it for a speed that the kernel does not tell. */
    private static final int USUAL_MBPS = 10_000;

    private FileRouting() {}

    /** The settings as that node would have them; what carries the data does not matter for its choice among NICs. */
    static PluginConfig config(Machine machine, String node) {
        Map<String, String> environment = machine.environmentOfJob();
        environment.put("TRIGON_NODE", node);
        environment.put("TRIGON_LINKS", "software");
        PluginConfig config = ConfigLoader.load(environment, machine.hostName());
        if (config.cluster().isEmpty()) {
            throw new CommandFailure("--from is " + node + ", but no cluster file lists its NICs (TRIGON_CONFIG)");
        }
        return config;
    }

    /**
     * Its table.
     *
     * @throws CommandFailure if the file has none of its addresses
     */
    static RoutingTable table(PluginConfig config) {
        NodeConfig node = config.thisNode().orElseThrow();
        List<HostInterface> interfaces = new ArrayList<>();
        for (NicConfig nic : node.nics()) {
            int index = interfaces.size() + 1;
            nic.address()
                    .ifPresent(address -> interfaces.add(new HostInterface(
                            nic.device().orElse("nic" + index),
                            index,
                            true,
                            false,
                            List.of(address),
                            nic.speedMbps().orElse(USUAL_MBPS))));
        }
        if (interfaces.size() < node.nics().size()) {
            throw new CommandFailure("the cluster file has no address of a NIC of " + node.name()
                    + ": it is named by its device, and only that node knows its address");
        }
        return RoutingTable.of(
                config,
                LinkDiscovery.discover(config, List.of(), new HostInterfaces(interfaces)),
                _ -> Optional.empty());
    }

    /**
     * The fewest relays from a node to another, in their order.
     *
     * @param from addresses of the node where the path begins
     * @param to addresses of the node where it ends
     * @return empty if no nodes of the file join the two
     */
    static List<String> relays(ClusterConfig cluster, List<InterfaceAddress> from, List<InterfaceAddress> to) {
        Map<String, List<String>> relays = new HashMap<>();
        Deque<NodeConfig> next = new ArrayDeque<>();
        for (NodeConfig node : cluster.nodes()) {
            if (areJoined(addresses(node), from) && !haveCommon(addresses(node), from)) {
                relays.put(node.name(), List.of(node.name()));
                next.add(node);
            }
        }
        while (!next.isEmpty()) {
            NodeConfig node = next.remove();
            List<String> sofar = relays.getOrDefault(node.name(), List.of());
            if (areJoined(addresses(node), to)) {
                return haveCommon(addresses(node), to) ? sofar.subList(0, sofar.size() - 1) : sofar;
            }
            for (NodeConfig each : cluster.nodes()) {
                if (!relays.containsKey(each.name())
                        && !haveCommon(addresses(each), from)
                        && areJoined(addresses(node), addresses(each))) {
                    List<String> longer = new ArrayList<>(sofar);
                    longer.add(each.name());
                    relays.put(each.name(), longer);
                    next.add(each);
                }
            }
        }
        return List.of();
    }

    static List<InterfaceAddress> addresses(NodeConfig node) {
        return node.nics().stream()
                .map(nic -> nic.address())
                .flatMap(Optional::stream)
                .toList();
    }

    /** Tells a node by its addresses. */
    private static boolean haveCommon(List<InterfaceAddress> some, List<InterfaceAddress> others) {
        return some.stream()
                .anyMatch(one -> others.stream().anyMatch(other -> one.address().equals(other.address())));
    }

    private static boolean areJoined(List<InterfaceAddress> some, List<InterfaceAddress> others) {
        return some.stream()
                .anyMatch(one -> others.stream()
                        .anyMatch(other -> one.contains(other.address()) && other.contains(one.address())));
    }
}
