package trigon.cluster.cabling;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import trigon.cluster.facts.Link;
import trigon.cluster.machine.Nic;
import trigon.cluster.probe.Observations;

/** The addresses of the links of all nodes, where their cables go, and which of them are explained by a finding. */
public final class Cluster {

    private final Observations seen;
    private final List<Place> places = new ArrayList<>();
    private final Wires wires;
    private final Set<String> misled = new HashSet<>();

    public Cluster(Observations seen) {
        this.seen = seen;
        wires = new Wires(seen);
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

    public Wires wires() {
        return wires;
    }

    /** Tells whether a wire has two nodes, and of each a single port, whose functions may be several. */
    public boolean isCable(String end) {
        Map<String, List<Nic>> byNode = new TreeMap<>();
        for (String each : wires.with(end)) {
            int blank = each.lastIndexOf(' ');
            String node = each.substring(0, blank);
            List<Nic> nics = byNode.computeIfAbsent(node, _ -> new ArrayList<>());
            String name = each.substring(blank + 1);
            nics.add(seen.node(node).interfaceNamed(name).orElseGet(() -> Nic.named(name)));
        }
        return byNode.size() == 2
                && byNode.values().stream()
                        .allMatch(nics -> nics.stream()
                                .allMatch(nic -> nic.equals(nics.getFirst()) || Twins.are(nics.getFirst(), nic)));
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

    /** Whether the interface of that name at another node, in a subnet of this end's, is down: no cable is to blame. */
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

    public static boolean isDown(Nic nic) {
        return nic.isDown() && nic.carrier().isEmpty();
    }
}
