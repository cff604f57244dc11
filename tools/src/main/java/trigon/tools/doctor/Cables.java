package trigon.tools.doctor;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import trigon.tools.cabling.Cluster;
import trigon.tools.probe.Observations;

/** Cables and switches, by the interfaces that hear each other. */
final class Cables {

    /** Two ends, each a node and its interface, in the order of their names. */
    record Cable(String from, String to) {}

    private Cables() {}

    /**
     * The list from which {@code trigon plan} plans. What leads to a switch is left out: it is at no cable.
     */
    static String listed(Observations seen) {
        StringBuilder list = new StringBuilder("# As trigon doctor has found them, for trigon plan\ncables:\n");
        for (Cable cable : of(seen)) {
            list.append("  - ")
                    .append(cable.from().replace(' ', ':'))
                    .append(' ')
                    .append(cable.to().replace(' ', ':'))
                    .append('\n');
        }
        return list.toString();
    }

    /** Cables, as far as multicast tells; of those whose ends have two functions, each function with one. */
    static List<Cable> of(Observations seen) {
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
        return cluster.wires().all().stream()
                .filter(ends -> !cluster.isCable(ends.getFirst()))
                .toList();
    }
}
