package trigon.tools.explain;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.cluster.machine.Machine;
import trigon.config.PluginConfig;
import trigon.config.cluster.NicConfig;
import trigon.config.cluster.NodeConfig;
import trigon.config.file.ConfigLoader;
import trigon.routing.discovery.HostInterface;
import trigon.routing.discovery.HostInterfaces;
import trigon.routing.discovery.LinkDiscovery;
import trigon.routing.table.RoutingTable;
import trigon.tools.console.CommandFailure;

/** The routing of another node, as far as the cluster file has it: its addresses are up, and it has no other routes. */
final class OtherNode {

    /** Assumed where the file says nothing, as routing assumes it for a speed that the kernel does not tell. */
    private static final int USUAL_MBPS = 10_000;

    private OtherNode() {}

    /** The settings as that node would have them; what carries the data does not matter for its choice among NICs. */
    static PluginConfig config(Machine machine, String node) {
        Map<String, String> environment = new HashMap<>(machine.environment());
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
}
