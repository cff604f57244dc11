package trigon.tools.plan;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import trigon.system.InterfaceAddress;

/**
 * Facts that machines, or a user for them, have stated. A DGX Spark's ConnectX-7 has two ports; each has two functions,
 * on different PCIe links, and each link carries one function of either port. Immutable.
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

    /** First functions of a DGX Spark's ports. */
    static final List<String> SPARK_PORTS = List.of("enp1s0f0np0", "enp1s0f1np1");

    private static final String FIRST = "p1";
    private static final String SECOND = "P2p1";
    private static final Pattern SPARK_NIC = Pattern.compile("en(" + FIRST + "|" + SECOND + ")(s0f([01])(?:np[01])?)");

    /** Nodes of which nothing else is known. */
    static Machines of(boolean allSparks) {
        return new Machines(allSparks, Set.of(), Map.of(), List.of());
    }

    boolean isSpark(String node) {
        return allSparks || sparks.contains(node);
    }

    /** The interface of the same port's other function; empty unless it is one of a DGX Spark. */
    Optional<String> twin(String node, String nic) {
        return sparkNic(node, nic).map(name -> "en" + (name.group(1).equals(FIRST) ? SECOND : FIRST) + name.group(2));
    }

    /** The number of its port, 0 or 1; empty unless it is one of a DGX Spark. */
    Optional<String> port(String node, String nic) {
        return sparkNic(node, nic).map(name -> name.group(3));
    }

    /** Its PCIe link, which others may share; empty unless it is one of a DGX Spark. */
    Optional<String> pcieLink(String node, String nic) {
        return sparkNic(node, nic).map(name -> node + ":" + name.group(1));
    }

    private Optional<MatchResult> sparkNic(String node, String nic) {
        return Optional.of(SPARK_NIC.matcher(nic))
                .filter(name -> isSpark(node) && name.matches())
                .map(Matcher::toMatchResult);
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
