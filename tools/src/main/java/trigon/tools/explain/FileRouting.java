package trigon.tools.explain;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.cluster.machine.Machine;
import trigon.config.PluginConfig;
import trigon.config.cluster.ClusterConfig;
import trigon.config.cluster.NicConfig;
import trigon.config.cluster.NodeConfig;
import trigon.config.file.ConfigLoader;
import trigon.relay.table.NetworkMap;
import trigon.relay.table.RouteTable;
import trigon.routing.Bandwidth;
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
     * The relays of the routes from a node to another, as the nodes' table has them: each route once.
     *
     * @param from addresses of the node where the path begins
     * @param to addresses of the node where it ends
     * @return empty if no nodes of the file join the two, or there are more than a table may have
     */
    static List<List<String>> relays(ClusterConfig cluster, List<InterfaceAddress> from, List<InterfaceAddress> to) {
        List<NodeConfig> nodes = cluster.nodes().stream()
                .filter(node -> !haveCommon(addresses(node), from) && !haveCommon(addresses(node), to))
                .sorted(Comparator.comparing(NodeConfig::name))
                .toList();
        if (nodes.size() + 2 > NetworkMap.MAX_NODES) {
            return List.of();
        }
        List<List<InterfaceAddress>> addresses = new ArrayList<>(List.of(from, to));
        nodes.forEach(node -> addresses.add(addresses(node)));
        List<NetworkMap.Cable> cables = new ArrayList<>();
        for (int one = 0; one < addresses.size(); one++) {
            for (int other = one + 1; other < addresses.size(); other++) {
                boolean isDirect = one == 0 && other == 1;
                if (!isDirect && areJoined(addresses.get(one), addresses.get(other))) {
                    cables.add(new NetworkMap.Cable(
                            one, other, Bandwidth.of(USUAL_MBPS).step()));
                }
            }
        }
        NetworkMap map = new NetworkMap(addresses.size(), new BitSet(), cables);
        return RouteTable.of(map, new BitSet()).units(0, 1).stream()
                .map(walk -> walk.nodes().subList(1, walk.nodes().size() - 1))
                .map(relays ->
                        relays.stream().map(node -> nodes.get(node - 2).name()).toList())
                .distinct()
                .toList();
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
