package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;
import static trigon.cluster.diagnosis.Finding.change;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import trigon.cluster.diagnosis.Cluster.Place;
import trigon.cluster.diagnosis.Finding.Remedy;
import trigon.cluster.diagnosis.Finding.Weight;
import trigon.cluster.machine.Nic;
import trigon.cluster.probe.Observations.Heard;
import trigon.system.InterfaceAddress;

/** Checks that cables lead, by the multicast that their ends hear, where the addresses of their ends say. Pure. */
final class CableChecks {

    private final Cluster cluster;
    private final Addressing addressing;
    private final List<Finding> findings = new ArrayList<>();

    CableChecks(Cluster cluster, Addressing addressing) {
        this.cluster = cluster;
        this.addressing = addressing;
    }

    List<Finding> find() {
        Map<String, List<Place>> ends = new TreeMap<>();
        cluster.places().stream()
                .filter(place -> !cluster.isExplained(place)) // what is wrong with its address is said already
                .forEach(place -> ends.computeIfAbsent(place.end(), _ -> new ArrayList<>())
                        .add(place));
        Set<String> elsewhere = new TreeSet<>();
        Set<String> alone = new TreeSet<>();
        ends.forEach((end, places) -> {
            Set<String> heard = cluster.heardBy(end);
            Set<String> meant = meant(places);
            if (!heard.isEmpty() && meant.stream().noneMatch(heard::contains)) {
                (meant.isEmpty() ? alone : elsewhere).add(end);
            }
        });
        elsewhere(elsewhere, ends);
        alone.removeIf(end -> ends.getOrDefault(end, List.of()).stream().anyMatch(cluster::isExplained));
        noCommonSubnet(alone, ends);
        missing();
        return findings;
    }

    /** The ends at other nodes that its addresses say it leads to. */
    private Set<String> meant(List<Place> places) {
        return meantPlaces(places).stream().map(Place::end).collect(Collectors.toCollection(TreeSet::new));
    }

    private List<Place> meantPlaces(List<Place> places) {
        return cluster.places().stream()
                .filter(other ->
                        places.stream().anyMatch(place -> !place.node().equals(other.node()) && place.overlaps(other)))
                .toList();
    }

    /** Swapped plugs: one finding for all ends that stand in for each other. */
    private void elsewhere(Set<String> wrong, Map<String, List<Place>> ends) {
        Set<String> left = new TreeSet<>(wrong);
        while (!left.isEmpty()) {
            Set<String> together = new LinkedHashSet<>(Set.of(left.iterator().next()));
            boolean more = true;
            while (more) {
                Set<String> near = new TreeSet<>();
                for (String end : together) {
                    near.addAll(cluster.heardBy(end));
                    near.addAll(meant(ends.getOrDefault(end, List.of())));
                }
                near.retainAll(left);
                more = together.addAll(near);
            }
            left.removeAll(together);
            swapped(new TreeSet<>(together), ends);
        }
    }

    private void swapped(Set<String> all, Map<String, List<Place>> ends) {
        Map<String, List<String>> byNode = all.stream()
                .collect(Collectors.groupingBy(
                        end -> end.substring(0, end.lastIndexOf(' ')), TreeMap::new, Collectors.toList()));
        Optional<List<String>> ofOneNode =
                byNode.values().stream().filter(each -> each.size() > 1).findFirst();
        Collection<String> said = ofOneNode.orElseGet(() -> List.copyOf(all));
        List<String> words = new ArrayList<>();
        for (String end : said) {
            List<Place> places = ends.getOrDefault(end, List.of());
            words.add("%s leads to %s, but its address is for %s"
                    .formatted(
                            end,
                            String.join(" and ", cluster.heardBy(end)),
                            meantPlaces(places).stream().map(Place::text).collect(Collectors.joining(" or "))));
        }
        for (String end : all) {
            List<Place> places = ends.getOrDefault(end, List.of());
            meantPlaces(places).forEach(cluster::explain);
            places.forEach(cluster::explain);
        }
        List<Finding> moved = ofOneNode.isPresent() ? List.of() : atWrongPorts(all, ends);
        if (!moved.isEmpty()) {
            findings.addAll(moved);
            return;
        }
        String node = said.iterator().next().replaceFirst(" .*", "");
        findings.add(Finding.error(
                "cable-elsewhere",
                String.join(", ", said),
                "a cable does not lead where the addresses say: " + String.join("; ", words),
                "multicast arrived from there",
                advice(
                        node,
                        ofOneNode.isPresent()
                                ? "swap the plugs of these ports of " + node + ", or their addresses"
                                : "plug the cable into the other port, or give both ends addresses in one subnet")));
    }

    /** Addresses that are at one port of a node, while the cable that they are for is in another, without addresses. */
    private List<Finding> atWrongPorts(Set<String> wrong, Map<String, List<Place>> ends) {
        Map<Place, String> ports = new LinkedHashMap<>();
        for (String end : wrong) {
            Set<String> heard = cluster.heardBy(end);
            for (Place place : meantPlaces(ends.getOrDefault(end, List.of()))) {
                heard.stream()
                        .filter(port -> port.startsWith(place.node() + " ") && isWithoutAddress(port))
                        .findFirst()
                        .ifPresent(port -> ports.putIfAbsent(place, port));
            }
        }
        return ports.entrySet().stream()
                .map(each -> atWrongPort(each.getKey(), nic(each.getValue())))
                .toList();
    }

    private static Finding atWrongPort(Place place, String right) {
        return Finding.error(
                "address-at-wrong-port",
                place.text(),
                "%s has %s at %s, and the cable to that subnet is in its %s, which has no address"
                        .formatted(place.node(), place.address(), place.name(), right),
                "multicast arrived from there",
                change(
                        place.node(),
                        "ip addr del %1$s dev %2$s && ip addr add %1$s dev %3$s"
                                .formatted(place.address(), place.name(), right)),
                advice(place.node(), "or plug that cable into " + place.name()));
    }

    private static String nic(String end) {
        return end.substring(end.lastIndexOf(' ') + 1);
    }

    private boolean isWithoutAddress(String end) {
        return withoutAddress(end.substring(0, end.lastIndexOf(' ')), nic(end)).isPresent();
    }

    /** Reports ends that share a subnet with nobody; remedies add an address, since the present one may be needed. */
    private void noCommonSubnet(Set<String> alone, Map<String, List<Place>> ends) {
        Set<String> said = new TreeSet<>();
        for (String end : alone) {
            Place place = ends.getOrDefault(end, List.of()).getFirst();
            Optional<Place> peer = cluster.places().stream()
                    .filter(other -> cluster.heardBy(end).contains(other.end())
                            && !cluster.isExplained(other)
                            && !works(place, other))
                    .findFirst();
            if (said.contains(end) || peer.isEmpty()) {
                continue;
            }
            said.add(end);
            said.add(peer.get().end());
            // an end that others are in a subnet with stays as it is
            boolean peerIsAlone = alone.contains(peer.get().end());
            Place joining = peerIsAlone ? peer.get() : place;
            Place other = peerIsAlone ? place : peer.get();
            findings.add(new Finding(
                    Weight.ERROR,
                    "no-common-subnet",
                    place.text() + " and " + peer.get().text(),
                    "a cable joins these two, and their addresses are in different subnets: it is not used",
                    "each received the other's multicast",
                    joined(joining, other)));
        }
    }

    private List<Remedy> joined(Place joining, Place other) {
        Optional<InterfaceAddress> address = addressing.mayHave(joining.node(), joining.name(), other.address())
                ? addressing.beside(other.address())
                : Optional.empty();
        if (address.isPresent()) {
            return List.of(Addressing.add(joining.node(), joining.name(), address.get()));
        }
        List<InterfaceAddress> fresh = addressing.fresh(other.address(), 2);
        return List.of(
                Addressing.add(other.node(), other.name(), fresh.getFirst()),
                Addressing.add(joining.node(), joining.name(), fresh.getLast()));
    }

    /** By a route of the kernel's. */
    private boolean works(Place one, Place other) {
        String a = InterfaceAddress.text(one.address().address());
        String b = InterfaceAddress.text(other.address().address());
        return cluster.seen().probes().stream()
                .anyMatch(
                        probe -> probe.works() && Set.of(a, b).equals(Set.of(probe.fromAddress(), probe.toAddress())));
    }

    /**
     * Ends without an address on a wire where others have some. One of a node that has an address there already is no
     * fault, unless it is the other function of that port: these get a subnet together, all of a wire.
     */
    private void missing() {
        Map<String, Place> missing = new LinkedHashMap<>();
        Map<String, List<String>> twins = new TreeMap<>();
        for (Heard each : cluster.seen().heard()) {
            String end = each.node() + " " + each.from();
            Optional<Nic> nic = withoutAddress(each.node(), each.from());
            Optional<Place> anchor = cluster.places().stream()
                    .filter(place -> place.end().equals(each.by() + " " + each.on()))
                    .findFirst();
            if (nic.isEmpty() || anchor.isEmpty() || missing.containsKey(end)) {
                continue;
            }
            if (addressing.mayHave(each.node(), each.from(), anchor.get().address())) {
                missing.put(end, anchor.get());
            } else if (hasTwinInSubnet(each.node(), nic.get(), anchor.get())) {
                List<String> ends = twins.computeIfAbsent(cluster.wireOf(end).orElse(""), _ -> new ArrayList<>());
                if (!ends.contains(end)) {
                    ends.add(end);
                }
            }
        }
        missing.forEach(this::addMissing);
        twins.values().stream().filter(ends -> ends.size() > 1).forEach(this::addMissingTwins);
    }

    private void addMissing(String end, Place anchor) {
        String node = end.substring(0, end.lastIndexOf(' '));
        String nic = end.substring(end.lastIndexOf(' ') + 1);
        findings.add(Finding.error(
                "address-missing",
                end,
                "a cable joins %s and %s, which has no address: it is not used".formatted(anchor.text(), end),
                "multicast arrived from there",
                addressing
                        .beside(anchor.address())
                        .map(address -> Addressing.add(node, nic, address))
                        .orElseGet(() -> advice(node, "give " + nic + " an address in a subnet with that end"))));
    }

    private void addMissingTwins(List<String> unsorted) {
        List<String> ends = unsorted.stream().sorted().toList();
        Place like = cluster.places().stream()
                .filter(place -> cluster.wireOf(place.end()).equals(cluster.wireOf(ends.getFirst())))
                .findFirst()
                .orElseThrow();
        List<InterfaceAddress> fresh = addressing.fresh(like.address(), ends.size());
        List<Remedy> remedies = new ArrayList<>();
        for (int i = 0; i < ends.size(); i++) {
            String end = ends.get(i);
            remedies.add(Addressing.add(
                    end.substring(0, end.lastIndexOf(' ')), end.substring(end.lastIndexOf(' ') + 1), fresh.get(i)));
        }
        findings.add(new Finding(
                Weight.ERROR,
                "address-missing",
                String.join(" and ", ends),
                "these second functions of ports have no addresses: half of the speed is unused",
                "multicast arrived from there; both functions are used only if each has its own subnet",
                remedies));
    }

    private boolean hasTwinInSubnet(String node, Nic nic, Place anchor) {
        return cluster.places().stream()
                .anyMatch(place -> place.node().equals(node)
                        && place.overlaps(anchor)
                        && place.nic().sharesCable(nic));
    }

    private Optional<Nic> withoutAddress(String node, String name) {
        return Optional.of(cluster.seen().node(node))
                .filter(facts -> !facts.isInner(name))
                .flatMap(facts -> facts.interfaceNamed(name))
                .filter(nic -> nic.ownAddresses().isEmpty());
    }
}
