package trigon.relay.topology;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import trigon.config.Settings;
import trigon.system.InterfaceAddress;

/**
 * All nodes that are known, and which of them are joined by a link that works. Immutable; put together from what was
 * announced when it is first asked for. Any thread.
 */
public final class Nodes {

    /** Bound on a node's links; what its processes announce beyond that is not looked at. */
    static final int MAX_LINKS = 2 * NodeRecord.MAX_LINKS;

    /** The order of addresses: IPv4 first, then as unsigned numbers. */
    static final Comparator<InetAddress> BY_ADDRESS = Comparator.comparingInt(
                    (InetAddress address) -> address.getAddress().length)
            .thenComparing(InetAddress::getAddress, Arrays::compareUnsigned);

    private final long ownNode;
    private final List<NodeRecord> records;
    private final long structure;
    private final boolean complete;
    private final Map<InetAddress, Incompatibility> unreadable;
    private final Optional<Nodes> withUnproven;
    private @Nullable Graph graph;

    /**
     * The nodes of these processes, of which nothing is proven.
     *
     * @param ownNode the node of the process that asks; one of the records is of it
     * @param structure another number where nodes or links are others
     * @param unreadable neighbours that are not, since their announcements cannot be taken
     */
    Nodes(long ownNode, List<NodeRecord> records, long structure, Map<InetAddress, Incompatibility> unreadable) {
        this.ownNode = ownNode;
        this.records = List.copyOf(records);
        this.structure = structure;
        this.unreadable = Map.copyOf(unreadable);
        complete = false;
        withUnproven = Optional.empty();
    }

    /** All nodes of these processes, whose records are proven. */
    private Nodes(Nodes withUnproven, List<NodeRecord> proven) {
        ownNode = withUnproven.ownNode;
        records = List.copyOf(proven);
        structure = withUnproven.structure;
        unreadable = withUnproven.unreadable;
        complete = true;
        this.withUnproven = Optional.of(withUnproven).filter(all -> all.records.size() > records.size());
    }

    /** The nodes of those processes alone whose records are proven: those behind the neighbours are among them. */
    Nodes ofMembers(List<NodeRecord> proven) {
        return new Nodes(this, proven);
    }

    /** The same with neighbours whose records are not proven, if there are any; then no others are known. */
    Nodes withUnproven() {
        return withUnproven.orElse(this);
    }

    synchronized Graph graph() {
        Graph known = graph;
        if (known == null) {
            known = new Graph(putTogether(records), ownNode);
            graph = known;
        }
        return known;
    }

    private static List<Node> putTogether(List<NodeRecord> records) {
        Map<Long, List<NodeRecord>> byNode = new HashMap<>();
        records.forEach(each ->
                byNode.computeIfAbsent(each.node(), _ -> new ArrayList<>()).add(each));
        List<Node> all = new ArrayList<>(byNode.size());
        byNode.forEach((id, processes) -> all.add(node(id, processes)));
        all.sort(Comparator.comparing(Node::name).thenComparingLong(Node::id));
        return List.copyOf(all);
    }

    private static Node node(long id, List<NodeRecord> processes) {
        Map<InetAddress, List<LinkRecord>> links = new TreeMap<>(BY_ADDRESS);
        Map<InetAddress, List<Node.RelayPort>> relays = new HashMap<>();
        for (NodeRecord process : processes) {
            for (LinkRecord link : process.links()) {
                InetAddress address = link.address().address();
                links.computeIfAbsent(address, _ -> new ArrayList<>(1)).add(link);
                if (link.relayPort() != 0) {
                    relays.computeIfAbsent(address, _ -> new ArrayList<>(1))
                            .add(new Node.RelayPort(link.relayPort(), process.loadMbps(), process.instance()));
                }
            }
        }
        List<Node.Link> merged = links.entrySet().stream()
                .limit(MAX_LINKS)
                .map(each -> merge(each.getValue(), relays.getOrDefault(each.getKey(), List.of())))
                .toList();
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
                same.stream().anyMatch(LinkRecord::rdma),
                Set.copyOf(heard),
                same.stream().anyMatch(LinkRecord::crowded),
                relays.stream()
                        .sorted(Comparator.comparingLong(Node.RelayPort::instance))
                        .toList());
    }

    /** Another number where nodes or links are others than in an earlier one; load and relays do not count. */
    public long structure() {
        return structure;
    }

    /** Returns whether nodes behind the neighbours are among them, which takes a key of the cluster or the job. */
    public boolean isComplete() {
        return complete;
    }

    /** The names of neighbours that are heard, and have not proven to be members. */
    public List<String> unproven() {
        Set<Long> members = all().stream().map(Node::id).collect(Collectors.toSet());
        return withUnproven().all().stream()
                .filter(node -> !members.contains(node.id()))
                .map(Node::name)
                .distinct()
                .toList();
    }

    /** Returns whether no other process is heard, a member or not. */
    public boolean isAlone() {
        return withUnproven().records.size() == 1;
    }

    Map<InetAddress, Incompatibility> unreadable() {
        return unreadable;
    }

    /**
     * Neighbours whose announcements come and cannot be taken, and what to do about it: a line for each cause; none if
     * there are no such neighbours.
     */
    public SortedMap<Incompatibility, String> complaints() {
        return Stream.of(Incompatibility.values())
                .filter(unreadable::containsValue)
                .collect(Collectors.toMap(Function.identity(), this::complaint, (first, again) -> first, TreeMap::new));
    }

    private String complaint(Incompatibility cause) {
        String keyFile = Settings.CLUSTER_KEY_FILE.variable().orElseThrow();
        String sources = unreadable.keySet().stream()
                .filter(source -> unreadable.get(source) == cause)
                .sorted(BY_ADDRESS)
                .map(InterfaceAddress::text)
                .collect(Collectors.joining(", "));
        return switch (cause) {
            case OTHER_KEY ->
                "announcements from %s are signed with another cluster key than this node's, or none; give all nodes"
                                .formatted(sources)
                        + " the same key (%s)".formatted(keyFile);
            case NO_KEY_HERE ->
                "announcements from %s are signed with a cluster key, and this process has none; give all nodes the"
                                .formatted(sources)
                        + " same key (%s)".formatted(keyFile);
            case OTHER_VERSION ->
                "announcements from %s are of another version of Trigon; use one build on all nodes".formatted(sources);
        };
    }

    /** The node of the process that asks. */
    public Node own() {
        return all().get(ownIndex());
    }

    int ownIndex() {
        List<Node> all = all();
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).id() == ownNode) {
                return i;
            }
        }
        throw new IllegalStateException("no process of the own node");
    }

    /** Those that are known now, this one among them, by name. */
    public List<Node> all() {
        return graph().nodes();
    }

    /** The nodes that a link joins with this one, by name. */
    public Set<Node> neighbours(Node of) {
        Set<Node> found = new LinkedHashSet<>();
        int index = all().indexOf(of);
        if (index >= 0) {
            graph().neighbours(index).stream().mapToObj(all()::get).forEach(found::add);
        }
        return found;
    }

    /** The first node that has an address. */
    public Optional<Node> at(InetAddress address) {
        int first = graph().at(address).nextSetBit(0);
        return first < 0 ? Optional.empty() : Optional.of(all().get(first));
    }
}
