package trigon.relay.topology;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import trigon.config.cluster.ClusterConfig;
import trigon.config.cluster.NicConfig;
import trigon.config.cluster.NodeConfig;
import trigon.system.InterfaceAddress;

/** Compares the cables of the cluster file, subnets that two nodes share, with the links that work. */
public final class CableCheck {

    private record End(NodeConfig node, InterfaceAddress address) {}

    private CableCheck() {}

    /** A line for each cable of the file that does not work though both its nodes are seen, or that is another one. */
    public static List<String> contradictions(ClusterConfig cluster, Nodes nodes) {
        List<End> ends = new ArrayList<>();
        for (NodeConfig node : cluster.nodes()) {
            for (NicConfig nic : node.nics()) {
                nic.address().ifPresent(address -> ends.add(new End(node, address)));
            }
        }
        Map<String, String> found = new TreeMap<>();
        for (End a : ends) {
            for (End b : ends) {
                if (a.node().index() < b.node().index() && isOneSubnet(a.address(), b.address())) {
                    contradiction(a, b, nodes).ifPresent(text -> found.put(name(a, b), text));
                }
            }
        }
        Set<InetAddress> listed =
                ends.stream().map(end -> end.address().address()).collect(Collectors.toSet());
        ends.forEach(end -> stranger(end, listed, nodes)
                .ifPresent(text -> found.put(end.address().toString(), text)));
        return List.copyOf(found.values());
    }

    private static boolean isOneSubnet(InterfaceAddress a, InterfaceAddress b) {
        return a.contains(b.address()) && b.contains(a.address());
    }

    private static Optional<String> contradiction(End a, End b, Nodes nodes) {
        Optional<Node.Link> here = seen(a, nodes);
        Optional<Node.Link> there = seen(b, nodes);
        if (here.isEmpty() || there.isEmpty() || here.get().joins(there.get())) {
            return Optional.empty();
        }
        boolean one = here.get().hears(b.address().address());
        boolean other = there.get().hears(a.address().address());
        String why = one == other
                ? "neither receives the other's announcements"
                : (one ? b : a).node().name() + " does not hear the other";
        return Optional.of(
                "the cluster file has a cable %s, but %s there: see whether it is plugged in, and into these ports"
                        .formatted(name(a, b), why));
    }

    private static Optional<Node.Link> seen(End end, Nodes nodes) {
        return nodes.at(end.address().address())
                .flatMap(node -> node.link(end.address().address()));
    }

    private static Optional<String> stranger(End end, Set<InetAddress> listed, Nodes nodes) {
        return seen(end, nodes)
                .flatMap(link -> link.heard().stream()
                        .filter(heard -> !listed.contains(heard))
                        .map(heard -> "%s of %s hears %s%s, which the cluster file does not have"
                                .formatted(
                                        end.address(),
                                        end.node().name(),
                                        InterfaceAddress.text(heard),
                                        owner(heard, nodes)))
                        .findFirst());
    }

    private static String owner(InetAddress address, Nodes nodes) {
        return nodes.at(address).map(node -> " of " + node.name()).orElse("");
    }

    private static String name(End a, End b) {
        return "%s-%s (%s to %s)".formatted(a.node().name(), b.node().name(), a.address(), b.address());
    }
}
