package trigon.tools.plan;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import trigon.system.InterfaceAddress;

/**
 * Facts that machines, or a user for them, have stated. Immutable.
 *
 * @param allSparks true if all nodes are DGX Sparks
 * @param sparks the nodes that are DGX Sparks
 * @param addresses that interfaces have now, by {@code NODE:INTERFACE}
 * @param used addresses of other interfaces, whose subnets no cable may get
 */
record Machines(
        boolean allSparks,
        Set<String> sparks,
        Map<String, List<InterfaceAddress>> addresses,
        List<InterfaceAddress> used) {

    Machines {
        sparks = Set.copyOf(sparks);
        addresses = Map.copyOf(addresses);
        used = List.copyOf(used);
    }

    /** Nodes of which nothing else is known. */
    static Machines of(boolean allSparks) {
        return new Machines(allSparks, Set.of(), Map.of(), List.of());
    }

    boolean isSpark(String node) {
        return allSparks || sparks.contains(node);
    }

    /** The addresses that an interface has now. */
    List<InterfaceAddress> of(String node, String nic) {
        return addresses.getOrDefault(node + ":" + nic, List.of());
    }

    /** All addresses that interfaces have, but for those of two. */
    Stream<InterfaceAddress> without(String one, String other) {
        return Stream.concat(
                used.stream(),
                addresses.entrySet().stream()
                        .filter(each ->
                                !each.getKey().equals(one) && !each.getKey().equals(other))
                        .flatMap(each -> each.getValue().stream()));
    }
}
