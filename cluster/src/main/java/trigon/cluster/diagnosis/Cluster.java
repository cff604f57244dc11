package trigon.cluster.diagnosis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import trigon.cluster.facts.LinkFacts.Link;
import trigon.cluster.machine.Nic;
import trigon.cluster.probe.Observations;
import trigon.system.InterfaceAddress;

/**
 * Addresses of the links of all nodes, the wires between their ends, and the addresses that a finding explains. An end
 * is a node and its interface. Ends are on one wire if they hear each other, directly or by others: the functions of a
 * port with those of the other end, and the ports of a switch.
 */
public final class Cluster {

    /**
     * An address of a link.
     *
     * @param node that has it
     * @param nic the facts of its interface
     */
    public record Place(String node, Nic nic, InterfaceAddress address) {

        public String name() {
            return nic.name();
        }

        /** The address alone, without its prefix, as probes name ends. */
        public String host() {
            return InterfaceAddress.text(address.address());
        }

        /** The node and its interface, as hellos name them. */
        public String end() {
            return node + " " + name();
        }

        public String text() {
            return end() + " (" + address + ")";
        }

        /** Tells whether one has the other's address in its subnet. */
        public boolean overlaps(Place other) {
            return address.contains(other.address.address()) || other.address.contains(address.address());
        }

        /** Tells whether both are in the same subnet, with the same prefix. */
        public boolean shares(Place other) {
            return address.prefixLength() == other.address.prefixLength() && overlaps(other);
        }

        /** A bridge, or USB, as to a management controller: programs of the machine need the addresses they made. */
        public boolean isFixed() {
            return !nic.kind().isEmpty();
        }
    }

    private final Observations seen;
    private final List<Place> places = new ArrayList<>();
    private final Map<String, Set<String>> wires = new HashMap<>();
    private final Set<String> misled = new HashSet<>();

    public Cluster(Observations seen) {
        this.seen = seen;
        seen.heard().forEach(each -> {
            Set<String> both = new TreeSet<>(on(each.by() + " " + each.on()));
            both.addAll(on(each.node() + " " + each.from()));
            both.forEach(end -> wires.put(end, both));
        });
        seen.facts()
                .forEach((node, facts) -> facts.links().stream()
                        .map(link -> link.address())
                        .distinct()
                        .filter(address -> !address.isLinkLocal()) // all of these are in one subnet
                        .forEach(address -> facts.interfaceOf(address.address())
                                // what leads to no other machine is a link where there is nothing else
                                .filter(nic -> !facts.isInner(nic.name()))
                                .ifPresent(nic -> places.add(new Place(node, nic, address)))));
    }

    public Observations seen() {
        return seen;
    }

    public List<Place> places() {
        return places;
    }

    private Set<String> on(String end) {
        return wires.getOrDefault(end, Set.of(end));
    }

    /** The same text for all ends of a wire; empty for an end that has not been heard. */
    public Optional<String> wireOf(String end) {
        return Optional.ofNullable(wires.get(end)).map(ends -> ends.iterator().next());
    }

    /** All wires, each by its ends. */
    public List<List<String>> wires() {
        return wires.values().stream()
                .distinct()
                .map(List::copyOf)
                .sorted(Comparator.comparing(List::getFirst))
                .toList();
    }

    /** Tells whether it is known of both where they lead, and that this is not to each other. */
    public boolean areApart(String one, String other) {
        return wireOf(one).isPresent()
                && wireOf(other).isPresent()
                && !wireOf(one).equals(wireOf(other));
    }

    /** The ends that one has heard. */
    public Set<String> heardBy(String end) {
        return seen.heard().stream()
                .filter(each -> end.equals(each.by() + " " + each.on()))
                .map(each -> each.node() + " " + each.from())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Tells whether a wire has two nodes, and of each a single port, whose functions may be several. */
    public boolean isCable(String end) {
        Map<String, List<Nic>> byNode = new TreeMap<>();
        for (String each : on(end)) {
            int blank = each.lastIndexOf(' ');
            String node = each.substring(0, blank);
            List<Nic> nics = byNode.computeIfAbsent(node, _ -> new ArrayList<>());
            String name = each.substring(blank + 1);
            nics.add(seen.node(node).interfaceNamed(name).orElseGet(() -> Nic.named(name)));
        }
        return byNode.size() == 2
                && byNode.values().stream()
                        .allMatch(nics -> nics.stream()
                                .allMatch(nic -> nic.equals(nics.getFirst())
                                        || nics.getFirst().sharesCable(nic)));
    }

    /** Addresses whose trouble a finding explains. */
    public Set<String> misled() {
        return misled;
    }

    /** A finding explains what becomes of links at this address. */
    public void explain(Place place) {
        misled.add(place.host());
    }

    /** A finding explains what becomes of all links of a node. */
    public void explainAll(String node) {
        seen.node(node).links().stream().map(Link::host).forEach(misled::add);
    }

    public boolean isExplained(Place place) {
        return misled.contains(place.host());
    }

    /** Tells whether an interface of another node, in a subnet of this end's, is down; its cable is not at fault. */
    public boolean isDownAtTheOtherEnd(String end) {
        return seen.facts().entrySet().stream()
                .flatMap(node -> node.getValue().interfaces().stream()
                        .filter(nic -> end.equals(node.getKey() + " " + nic.name())))
                .flatMap(nic -> nic.ownAddresses().stream())
                .anyMatch(own -> seen.facts().entrySet().stream()
                        .filter(node -> !end.startsWith(node.getKey() + " "))
                        .flatMap(node -> node.getValue().interfaces().stream())
                        .filter(Cluster::isDown)
                        .flatMap(nic -> nic.ownAddresses().stream())
                        .anyMatch(other -> own.contains(other.address())));
    }

    private static boolean isDown(Nic nic) {
        return nic.isDown() && nic.carrier().isEmpty();
    }
}
