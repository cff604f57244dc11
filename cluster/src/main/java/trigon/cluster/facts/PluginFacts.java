package trigon.cluster.facts;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.MachineLinks;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.UnknownVariable;
import trigon.config.cluster.NodeConfig;
import trigon.system.InterfaceAddress;

/**
 * Settings of the plugin on a node.
 *
 * @param settings a line each, with its source
 * @param topologyPort of announcements
 * @param clusterNode this node's name in the cluster file; empty if none lists it
 * @param cluster the nodes of that file
 * @param tunedTable of the policy; empty without one, or for one of another kind
 */
public record PluginFacts(
        List<String> settings,
        List<String> unknownVariables,
        int topologyPort,
        Optional<String> clusterFile,
        String clusterFingerprint,
        Optional<String> clusterNode,
        Optional<List<ClusterNode>> cluster,
        Optional<TunedTable> tunedTable) {

    /** A node of the cluster file. */
    public record ClusterNode(String name, List<ClusterNic> nics) {

        private static ClusterNode of(NodeConfig node) {
            return new ClusterNode(
                    node.name(),
                    node.nics().stream()
                            .map(nic -> new ClusterNic(nic.device(), nic.address()))
                            .toList());
        }
    }

    /** A NIC of such a node, by what the file names it. */
    public record ClusterNic(Optional<String> device, Optional<InterfaceAddress> address) {}

    static PluginFacts of(Machine machine, MachineLinks links) {
        PluginConfig config = links.config();
        return new PluginFacts(
                config.describe().stream()
                        .filter(line -> !line.startsWith("file:") && !line.startsWith("this node:"))
                        .toList(),
                config.unknownVariables().stream()
                        .map(UnknownVariable::toString)
                        .toList(),
                config.value(Settings.TOPOLOGY_PORT),
                config.file().map(Path::toString),
                "%08x".formatted(config.fingerprint()),
                config.thisNode().map(NodeConfig::name),
                config.cluster()
                        .map(cluster ->
                                cluster.nodes().stream().map(ClusterNode::of).toList()),
                config.value(Settings.POLICY_FILE).flatMap(file -> TunedTable.of(machine, file, links)));
    }

    /** Values of the settings by key, without their sources. */
    public Map<String, String> values() {
        Map<String, String> values = new TreeMap<>();
        for (String line : settings) {
            String[] parts = line.split(": ", 2);
            values.put(parts[0], parts.length == 1 ? "" : parts[1].replaceFirst(" \\([^()]*\\)$", ""));
        }
        return values;
    }

    /** Tells whether a setting has that value. */
    public boolean has(String key, String value) {
        return value.equals(values().get(key));
    }
}
