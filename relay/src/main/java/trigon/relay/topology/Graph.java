package trigon.relay.topology;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import trigon.system.InterfaceAddress;

/**
 * The links between nodes, by their numbers. A link counts for another by its address and its subnet, found in maps:
 * pairs of links are never looked at, since a switch, or whoever makes up records, has any number of them. Takes time
 * and memory by the number of links, and a bit for each pair of nodes once neighbours are asked for. Any thread.
 */
final class Graph {

    /** A link with the index of the node that has it. */
    record End(int node, Node.Link link) {}

    private static final class Ends {

        /** Bound on a list of links; of more, the nodes are remembered. */
        private static final int FEW = 64;

        private final List<End> list = new ArrayList<>(1);
        private @Nullable BitSet nodes;

        void addTo(BitSet found) {
            if (list.size() <= FEW) {
                list.forEach(end -> found.set(end.node()));
                return;
            }
            BitSet known = nodes;
            if (known == null) {
                known = new BitSet();
                for (End end : list) {
                    known.set(end.node());
                }
                nodes = known;
            }
            found.or(known);
        }
    }

    /** Links that count all of their subnet as heard, and all links that are in it. */
    private record Crowd(Ends hearing, Ends heard) {}

    /** Lengths of prefixes that are looked at, of each family: who makes up records may nest any number of subnets. */
    private static final int MAX_LENGTHS = 8;

    private static final Ends NONE = new Ends();

    private final List<Node> nodes;
    private final Map<InetAddress, Ends> at = new HashMap<>();
    private final Map<InetAddress, Ends> hearing = new HashMap<>();
    private final Map<Subnet, Crowd> crowds = new HashMap<>();
    private final List<Integer> lengthsOfIpv4;
    private final List<Integer> lengthsOfIpv6;
    private BitSet @Nullable [] neighbours;

    /**
     * A graph of nodes, in which links of the own node come first where not all lengths of prefixes can be looked at.
     */
    Graph(List<Node> nodes, long ownNode) {
        this.nodes = nodes;
        List<End> ends = new ArrayList<>();
        for (int node = 0; node < nodes.size(); node++) {
            for (Node.Link link : nodes.get(node).links()) {
                End end = new End(node, link);
                ends.add(end);
                at.computeIfAbsent(link.address().address(), _ -> new Ends())
                        .list
                        .add(end);
            }
        }
        lengthsOfIpv4 = lengths(ends, Inet4Address.class, ownNode);
        lengthsOfIpv6 = lengths(ends, Inet6Address.class, ownNode);
        for (End end : ends) {
            if (isLookedAt(end.link())) {
                crowds.computeIfAbsent(subnet(end.link()), _ -> new Crowd(new Ends(), new Ends()))
                        .hearing
                        .list
                        .add(end);
            }
        }
        for (End end : ends) {
            for (InetAddress heard : end.link().heard()) {
                boolean isOfCrowd =
                        isLookedAt(end.link()) && end.link().address().contains(heard);
                if (at.containsKey(heard) && !isOfCrowd) {
                    hearing.computeIfAbsent(heard, _ -> new Ends()).list.add(end);
                }
            }
            around(end.link().address().address()).forEach(crowd -> crowd.heard.list.add(end));
        }
    }

    /** The lengths of prefixes of a family's crowded links: those of the own node first, then the commonest. */
    private List<Integer> lengths(List<End> ends, Class<? extends InetAddress> family, long ownNode) {
        Map<Integer, Long> weights = new TreeMap<>();
        for (End end : ends) {
            InterfaceAddress address = end.link().address();
            if (end.link().crowded() && family.isInstance(address.address())) {
                boolean isOwn = nodes.get(end.node()).id() == ownNode;
                weights.merge(address.prefixLength(), isOwn ? 1L << Integer.SIZE : 1L, Long::sum);
            }
        }
        return weights.entrySet().stream()
                .sorted(Map.Entry.<Integer, Long>comparingByValue().reversed())
                .limit(MAX_LENGTHS)
                .map(Map.Entry::getKey)
                .toList();
    }

    private List<Integer> lengths(InetAddress address) {
        return address instanceof Inet4Address ? lengthsOfIpv4 : lengthsOfIpv6;
    }

    /** Returns whether all of its subnet counts as heard, which does where the length of its prefix is looked at. */
    private boolean isLookedAt(Node.Link link) {
        InterfaceAddress address = link.address();
        return link.crowded()
                && !address.isLinkLocal()
                && lengths(address.address()).contains(address.prefixLength());
    }

    private static Subnet subnet(Node.Link link) {
        return Subnet.of(link.address().address(), link.address().prefixLength());
    }

    private List<Crowd> around(InetAddress address) {
        List<Crowd> found = new ArrayList<>(1);
        for (int length : lengths(address)) {
            Crowd crowd = crowds.get(Subnet.of(address, length));
            if (crowd != null) {
                found.add(crowd);
            }
        }
        return found;
    }

    List<Node> nodes() {
        return nodes;
    }

    /** The nodes that have a link with that address. */
    synchronized BitSet at(InetAddress address) {
        BitSet found = new BitSet();
        at.getOrDefault(address, NONE).addTo(found);
        return found;
    }

    /** The links that hear an address; for one that no node has, those that hear all of their subnet. */
    List<List<End>> hearing(InetAddress address) {
        List<List<End>> found = new ArrayList<>();
        found.add(hearing.getOrDefault(address, NONE).list);
        around(address).forEach(crowd -> found.add(crowd.hearing.list));
        return found;
    }

    /** Adds the nodes that a link hears. */
    synchronized void addHeard(Node.Link link, BitSet found) {
        for (InetAddress heard : link.heard()) {
            at.getOrDefault(heard, NONE).addTo(found);
        }
        Crowd crowd = link.crowded() ? crowds.get(subnet(link)) : null;
        if (crowd != null) {
            crowd.heard.addTo(found);
        }
    }

    /** The nodes that a link joins with this one: one of its ends has heard the other. Not to be changed. */
    synchronized BitSet neighbours(int node) {
        BitSet[] all = neighbours;
        if (all == null) {
            all = new BitSet[nodes.size()];
            for (int i = 0; i < all.length; i++) {
                all[i] = find(i);
            }
            neighbours = all;
        }
        return all[node];
    }

    private BitSet find(int node) {
        BitSet found = new BitSet();
        for (Node.Link link : nodes.get(node).links()) {
            InetAddress own = link.address().address();
            addHeard(link, found);
            hearing.getOrDefault(own, NONE).addTo(found);
            around(own).forEach(crowd -> crowd.hearing.addTo(found));
        }
        found.clear(node);
        return found;
    }
}
