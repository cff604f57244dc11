package trigon.tools.explain;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.config.cluster.ClusterConfig;
import trigon.config.cluster.NodeConfig;
import trigon.system.InterfaceAddress;

/** The relays between nodes of a cluster file, as far as it has their addresses. Pure. */
final class FileRelays {

    private FileRelays() {}

    /**
     * The fewest relays from a node to another, in their order.
     *
     * @param from addresses of the node where the path begins
     * @param to addresses of the node where it ends
     * @return empty if no nodes of the file join the two
     */
    static List<String> between(ClusterConfig cluster, List<InterfaceAddress> from, List<InterfaceAddress> to) {
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
