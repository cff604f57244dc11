package trigon.cluster.diagnosis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import trigon.cluster.cabling.Cluster;
import trigon.cluster.cabling.Place;
import trigon.cluster.cabling.Twins;
import trigon.cluster.diagnosis.Finding.Remedy;
import trigon.system.InterfaceAddress;

/**
 * New subnets for interfaces that are in one, though they are on several wires, or are several functions of a port.
 * Those that get a subnet together are a lane: of each node the first one on a wire, and then the second ones.
 */
final class Readdressing {

    private final Cluster cluster;
    private final Addressing addressing;

    Readdressing(Cluster cluster, Addressing addressing) {
        this.cluster = cluster;
        this.addressing = addressing;
    }

    /**
     * Commands after which one lane is in the subnet that all are in now, and each other one has its own.
     *
     * @return nothing if it is not known who is on a wire with whom, or an address would go that may be needed
     */
    Optional<List<Remedy>> allButOneLane(List<Place> places) {
        Optional<List<List<Place>>> all = lanes(places);
        if (all.isEmpty()) {
            return Optional.empty();
        }
        List<List<Place>> needed = all.get().stream()
                .filter(lane -> !lane.stream().allMatch(addressing::mayGo))
                .toList();
        if (needed.size() > 1) {
            return Optional.empty();
        }
        List<Place> kept = needed.stream()
                .findFirst()
                .orElseGet(() -> all.get().stream()
                        .max(Comparator.comparingInt(List::size)) // the first of the largest
                        .orElse(List.of()));
        return moved(all.get().stream().filter(lane -> !lane.equals(kept)).toList());
    }

    /** Commands after which no lane is in the subnet that all are in now. */
    Optional<List<Remedy>> allLanes(List<Place> places) {
        return lanes(places)
                .filter(all -> all.stream().flatMap(List::stream).allMatch(addressing::mayGo))
                .flatMap(this::moved);
    }

    private Optional<List<Remedy>> moved(List<List<Place>> lanes) {
        List<Remedy> remedies = new ArrayList<>();
        for (List<Place> lane : lanes) {
            if (lane.size() > 1) {
                List<InterfaceAddress> fresh = addressing.fresh(lane.getFirst().address(), lane.size());
                for (int i = 0; i < lane.size(); i++) {
                    remedies.add(Addressing.replace(lane.get(i), fresh.get(i)));
                }
                continue;
            }
            Place alone = lane.getFirst();
            Optional<Remedy> toPeer = cluster.places().stream()
                    .filter(peer -> cluster.wires().heardBy(alone.end()).contains(peer.end())
                            && !peer.overlaps(alone)
                            && addressing.mayHave(alone.node(), alone.name(), peer.address()))
                    .findFirst()
                    .flatMap(peer -> addressing.beside(peer.address()))
                    .map(address -> Addressing.replace(alone, address));
            if (toPeer.isEmpty()) {
                return Optional.empty(); // nobody would be there
            }
            remedies.add(toPeer.get());
        }
        return Optional.of(remedies);
    }

    /** By wire, and then by the order of addresses on each node. */
    private Optional<List<List<Place>>> lanes(List<Place> places) {
        boolean isHeard = places.stream()
                .allMatch(place -> cluster.wires().of(place.end()).isPresent());
        if (!isHeard && !areTwins(places)) {
            return Optional.empty();
        }
        Map<String, Map<String, Map<String, Place>>> wires = new TreeMap<>();
        places.stream()
                .sorted(Comparator.comparing(Place::address))
                .forEach(place -> wires
                        // where each node has functions of one port alone in the subnet, the subnet is the wire
                        .computeIfAbsent(
                                isHeard ? cluster.wires().of(place.end()).orElseThrow() : "",
                                _ -> new LinkedHashMap<>())
                        .computeIfAbsent(place.node(), _ -> new LinkedHashMap<>())
                        .putIfAbsent(place.name(), place));
        List<List<Place>> lanes = new ArrayList<>();
        for (Map<String, Map<String, Place>> wire : wires.values()) {
            int most = wire.values().stream().mapToInt(Map::size).max().orElse(0);
            for (int i = 0; i < most; i++) {
                int number = i;
                lanes.add(wire.values().stream()
                        .flatMap(nics -> nics.values().stream().skip(number).limit(1))
                        .toList());
            }
        }
        return Optional.of(lanes);
    }

    private static boolean areTwins(List<Place> places) {
        return places.stream()
                .allMatch(one -> places.stream()
                        .filter(other ->
                                other.node().equals(one.node()) && !other.end().equals(one.end()))
                        .allMatch(other -> Twins.are(one.nic(), other.nic())));
    }
}
