package trigon.config.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The nodes of the cluster, and through which NICs they reach each other where that is not left to the addresses.
 *
 * @param nodes in the file's order; not empty
 * @param peers for each node, by index, the NIC for a peer's index; a peer that is not in it has none prescribed
 */
public record ClusterConfig(List<NodeConfig> nodes, List<Map<Integer, NicReference>> peers) {

    public ClusterConfig {
        nodes = List.copyOf(nodes);
        List<Map<Integer, NicReference>> copies = new ArrayList<>();
        for (Map<Integer, NicReference> references : peers) {
            copies.add(Map.copyOf(references));
        }
        peers = List.copyOf(copies);
        if (peers.size() != nodes.size()) {
            throw new IllegalArgumentException(nodes.size() + " nodes, but peers of " + peers.size());
        }
    }

    /** The node of that name. */
    public Optional<NodeConfig> node(String name) {
        return nodes.stream().filter(node -> node.name().equals(name)).findFirst();
    }

    /** The nodes' names in the file's order, as a list for messages. */
    public String names() {
        return String.join(", ", nodes.stream().map(NodeConfig::name).toList());
    }
}
