package trigon.topology;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import trigon.config.InterfaceAddress;

/** All nodes that are known, and which of them are joined by a link that works. Immutable. */
public final class Nodes {

    /** A link that works, seen from one of its ends. */
    public record Edge(Node.Link here, Node to, Node.Link there) {}

    private final Node own;
    private final List<Node> all;
    private final Map<Long, List<Edge>> edges = new HashMap<>();

    private Nodes(Node own, List<Node> all) {
        this.own = own;
        this.all = all;
        for (Node node : all) {
            edges.put(node.id(), find(node));
        }
    }

    private List<Edge> find(Node from) {
        List<Edge> found = new ArrayList<>();
        for (Node to : all) {
            if (to.id() != from.id()) {
                for (Node.Link here : from.links()) {
                    for (Node.Link there : to.links()) {
                        if (here.joins(there)) {
                            found.add(new Edge(here, to, there));
                        }
                    }
                }
            }
        }
        return List.copyOf(found);
    }

    /**
     * The nodes of these processes.
     *
     * @param ownNode the node of the process that asks; one of the records is of it
     */
    static Nodes of(long ownNode, List<NodeRecord> records) {
        Map<Long, List<NodeRecord>> byNode = new TreeMap<>();
        records.forEach(each ->
                byNode.computeIfAbsent(each.node(), _ -> new ArrayList<>()).add(each));
        List<Node> all = new ArrayList<>();
        byNode.forEach((id, processes) -> all.add(node(id, processes)));
        all.sort(Comparator.comparing(Node::name).thenComparingLong(Node::id));
        Node own = all.stream().filter(node -> node.id() == ownNode).findFirst().orElseThrow();
        return new Nodes(own, List.copyOf(all));
    }

    private static Node node(long id, List<NodeRecord> processes) {
        Map<InetAddress, List<LinkRecord>> links = new TreeMap<>(Addresses.BY_ADDRESS);
        Map<InetAddress, List<Node.RelayPort>> relays = new HashMap<>();
        for (NodeRecord process : processes) {
            for (LinkRecord link : process.links()) {
                InetAddress address = link.address().address();
                links.computeIfAbsent(address, _ -> new ArrayList<>()).add(link);
                if (link.relayPort() != 0) {
                    relays.computeIfAbsent(address, _ -> new ArrayList<>())
                            .add(new Node.RelayPort(link.relayPort(), process.loadMbps(), process.instance()));
                }
            }
        }
        List<Node.Link> merged = new ArrayList<>();
        links.forEach((address, same) -> merged.add(merge(same, relays.getOrDefault(address, List.of()))));
        String name = processes.stream()
                .map(NodeRecord::name)
                .min(Comparator.naturalOrder())
                .orElse("");
        return new Node(id, name, merged);
    }

    private static Node.Link merge(List<LinkRecord> same, List<Node.RelayPort> relays) {
        Set<InetAddress> heard = new HashSet<>();
        same.forEach(link -> heard.addAll(link.neighbours()));
        InterfaceAddress address = same.getFirst().address();
        return new Node.Link(
                address,
                same.stream().mapToInt(LinkRecord::speedMbps).max().orElse(0),
                Set.copyOf(heard),
                same.stream().anyMatch(LinkRecord::crowded),
                relays.stream()
                        .sorted(Comparator.comparingInt(Node.RelayPort::loadMbps)
                                .thenComparingLong(Node.RelayPort::instance))
                        .toList());
    }

    /** The node of the process that asks. */
    public Node own() {
        return own;
    }

    /** All, by name. */
    public List<Node> all() {
        return all;
    }

    /** The links that work, from a node. */
    public List<Edge> edges(Node from) {
        return edges.getOrDefault(from.id(), List.of());
    }

    /** The nodes that a link joins with this one. */
    public Set<Node> neighbours(Node of) {
        Set<Node> found = new LinkedHashSet<>();
        edges(of).forEach(edge -> found.add(edge.to()));
        return found;
    }

    /** The node that has an address, and is not this process's own. */
    public Optional<Node> at(InetAddress address) {
        return all.stream().filter(node -> node.link(address).isPresent()).findFirst();
    }
}
