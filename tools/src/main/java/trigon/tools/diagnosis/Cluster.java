package trigon.tools.diagnosis;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import trigon.system.InterfaceAddress;
import trigon.tools.facts.Nic;
import trigon.tools.probe.Observations;

/** The addresses of the links of all nodes, where their cables go, and which of them are explained by a finding. */
final class Cluster {

    private final Observations seen;
    private final List<Place> places = new ArrayList<>();
    private final Wires wires;
    private final Set<String> misled = new HashSet<>();

    Cluster(Observations seen) {
        this.seen = seen;
        wires = new Wires(seen);
        seen.facts()
                .forEach((node, facts) -> facts.links().stream()
                        .map(link -> link.address())
                        .distinct()
                        .filter(address -> !address.isLinkLocal()) // all of these are in one subnet
                        .forEach(address -> facts.interfaceOf(address)
                                // what leads to no other machine is a link where there is nothing else
                                .filter(nic -> !facts.isInner(nic.name()))
                                .ifPresent(nic -> places.add(new Place(node, nic, address)))));
    }

    Observations seen() {
        return seen;
    }

    List<Place> places() {
        return places;
    }

    Wires wires() {
        return wires;
    }

    /** Addresses whose trouble a finding explains. */
    Set<String> misled() {
        return misled;
    }

    /** A finding explains what becomes of links at this address. */
    void explain(Place place) {
        misled.add(InterfaceAddress.text(place.address().address()));
    }

    boolean isExplained(Place place) {
        return misled.contains(InterfaceAddress.text(place.address().address()));
    }

    /** Whether the interface of that name at another node, in a subnet of this end's, is down: no cable is to blame. */
    boolean isDownAtTheOtherEnd(String end) {
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

    static boolean isDown(Nic nic) {
        return nic.state().equals("down") && nic.carrier().isEmpty();
    }
}
