package trigon.tools.up;

import java.net.Inet4Address;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.machine.Nic;
import trigon.cluster.probe.Observations;
import trigon.system.InterfaceAddress;

/**
 * A network on which every node has an address of its own, for NCCL's bootstrap.
 *
 * @param nics the interface of each node, by its name
 * @param addresses the address of each node
 * @param leased true if an address of it is leased
 */
record SharedNetwork(Map<String, String> nics, Map<String, String> addresses, boolean leased) {

    private record Place(String nic, InterfaceAddress address, int mbps, boolean planned) {}

    /**
     * Finds the fastest one that is no planned cable; a cable, if it joins all nodes; empty if there is none.
     *
     * @param planned ends of cables that get other addresses, such as {@code a eth1}
     */
    static Optional<SharedNetwork> of(Observations seen, List<NicPlan> planned, Map<String, Survey> surveys) {
        Map<String, Map<String, Place>> bySubnet = new TreeMap<>();
        seen.facts().forEach((node, facts) -> {
            for (Nic nic : facts.interfaces()) {
                addresses(node, nic, facts, planned)
                        .forEach(place -> bySubnet.computeIfAbsent(
                                        place.address().subnet(), _ -> new LinkedHashMap<>())
                                .putIfAbsent(node, place));
            }
        });
        return bySubnet.values().stream()
                .filter(places -> places.keySet().equals(seen.facts().keySet()) && areDifferent(places))
                .min(Comparator.comparing((Map<String, Place> places) ->
                                places.values().stream().anyMatch(Place::planned))
                        .thenComparingInt(places -> -places.values().stream()
                                .mapToInt(Place::mbps)
                                .min()
                                .orElse(0)))
                .map(places -> of(places, surveys));
    }

    private static List<Place> addresses(String node, Nic nic, NodeFacts facts, List<NicPlan> planned) {
        if (nic.isDown() || nic.isTunnel() || facts.isInner(nic.name())) {
            return List.of();
        }
        List<InterfaceAddress> all = planned.stream()
                .filter(each ->
                        each.end().node().equals(node) && each.end().nic().equals(nic.name()))
                .findFirst()
                .map(each -> List.of(each.end().address()))
                .orElse(nic.ownAddresses());
        boolean isPlanned = planned.stream()
                .anyMatch(each ->
                        each.end().node().equals(node) && each.end().nic().equals(nic.name()));
        return all.stream()
                .filter(each -> each.address() instanceof Inet4Address
                        && !each.address().isLinkLocalAddress())
                .map(each -> new Place(nic.name(), each, nic.speedMbps(), isPlanned))
                .toList();
    }

    private static boolean areDifferent(Map<String, Place> places) {
        Set<InterfaceAddress> different = new TreeSet<>();
        return places.values().stream().allMatch(place -> different.add(place.address()));
    }

    private static SharedNetwork of(Map<String, Place> places, Map<String, Survey> surveys) {
        Map<String, String> nics = new LinkedHashMap<>();
        Map<String, String> addresses = new LinkedHashMap<>();
        boolean leased = false;
        for (Map.Entry<String, Place> each : places.entrySet()) {
            nics.put(each.getKey(), each.getValue().nic());
            addresses.put(
                    each.getKey(),
                    InterfaceAddress.text(each.getValue().address().address()));
            leased |= surveys.getOrDefault(each.getKey(), Survey.read(""))
                    .leased()
                    .contains(each.getValue().address().toString());
        }
        return new SharedNetwork(nics, addresses, leased);
    }
}
