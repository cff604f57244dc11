package trigon.tools.doctor;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import trigon.cluster.diagnosis.Cluster;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.machine.Nic;
import trigon.cluster.probe.Observations;
import trigon.system.InterfaceAddress;

/** Cables and switches, by the interfaces that hear each other. */
public final class Cables {

    /** Two ends, each a node and its interface, in the order of their names. */
    public record Cable(String from, String to) {}

    private Cables() {}

    /**
     * The list from which {@code trigon plan} plans: the cables, what their ends have now, the machines' kinds, and the
     * subnets that the nodes have elsewhere. An end at a switch is left out, and so is one that logins or the default
     * route need.
     */
    public static String listed(Observations seen) {
        Set<String> planned = new HashSet<>();
        StringBuilder list = new StringBuilder("# As trigon doctor has found them, for trigon plan\n");
        String sparks = seen.facts().entrySet().stream()
                .filter(node -> node.getValue().isDgxSpark())
                .map(node -> node.getKey() + ": dgx-spark")
                .collect(Collectors.joining(", "));
        list.append(sparks.isEmpty() ? "" : "machines: {" + sparks + "}\n").append("cables:\n");
        for (Cable cable : of(seen)) {
            if (!isNeeded(seen, cable.from()) && !isNeeded(seen, cable.to())) {
                planned.addAll(List.of(cable.from(), cable.to()));
                list.append(
                        "  - %s %s\n".formatted(withAddresses(seen, cable.from()), withAddresses(seen, cable.to())));
            }
        }
        Set<String> used = new TreeSet<>();
        seen.facts()
                .forEach((node, facts) -> facts.interfaces().stream()
                        .filter(nic -> !planned.contains(node + " " + nic.name()))
                        .flatMap(nic -> nic.ownAddresses().stream())
                        .forEach(address -> used.add("  - " + address + "\n")));
        return list.append(used.isEmpty() ? "" : "used:\n" + String.join("", used))
                .toString();
    }

    private static Optional<NodeFacts> node(Observations seen, String end) {
        return Optional.ofNullable(seen.facts().get(end.substring(0, end.indexOf(' '))));
    }

    private static Optional<Nic> nic(Observations seen, String end) {
        return node(seen, end).flatMap(facts -> facts.interfaceNamed(end.substring(end.indexOf(' ') + 1)));
    }

    /** Tells whether logins or the default route need an end. */
    public static boolean isNeeded(Observations seen, String end) {
        Optional<String> login =
                node(seen, end).flatMap(facts -> facts.networks().loginAddress());
        return nic(seen, end)
                .filter(nic ->
                        node(seen, end).orElseThrow().networks().defaultRoutes().contains(nic.name())
                                || nic.addresses().stream()
                                        .anyMatch(each ->
                                                login.equals(Optional.of(InterfaceAddress.text(each.address())))))
                .isPresent();
    }

    private static String withAddresses(Observations seen, String end) {
        String addresses = nic(seen, end).stream()
                .flatMap(nic -> nic.ownAddresses().stream())
                .map(InterfaceAddress::toString)
                .collect(Collectors.joining(","));
        return end.replace(' ', ':') + (addresses.isEmpty() ? "" : "=" + addresses);
    }

    /** Cables, as far as multicast tells; of those whose ends have two functions, each function with one. */
    public static List<Cable> of(Observations seen) {
        Cluster cluster = new Cluster(seen);
        Set<String> paired = new HashSet<>();
        return seen.heard().stream()
                .filter(each -> cluster.isCable(each.by() + " " + each.on()))
                .map(each -> {
                    String one = each.by() + " " + each.on();
                    String other = each.node() + " " + each.from();
                    return one.compareTo(other) < 0 ? new Cable(one, other) : new Cable(other, one);
                })
                .distinct()
                .sorted(Comparator.comparing(Cable::from).thenComparing(Cable::to))
                .filter(cable -> !paired.contains(cable.from()) && !paired.contains(cable.to()))
                .filter(cable -> paired.addAll(List.of(cable.from(), cable.to())))
                .toList();
    }

    /** Ends that hear several nodes, or several ports of one: those of each switch or bridge together. */
    static List<List<String>> switches(Observations seen) {
        Cluster cluster = new Cluster(seen);
        return cluster.wires().stream()
                .filter(ends -> !cluster.isCable(ends.getFirst()))
                .toList();
    }
}
