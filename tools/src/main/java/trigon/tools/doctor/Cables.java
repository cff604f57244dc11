package trigon.tools.doctor;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import trigon.tools.probe.Observations;
import trigon.tools.probe.Observations.Heard;

/** Which interfaces hear each other. */
final class Cables {

    /** Two ends, each a node and its interface, in the order of their names. */
    record Cable(String from, String to) {}

    private Cables() {}

    /**
     * The list from which {@code trigon plan} plans. The functions of two ports are paired. An end that hears several
     * nodes, as at a switch, is left out: it is at no cable.
     */
    static String listed(Observations seen) {
        Map<String, Set<String>> peers = new HashMap<>();
        for (Heard each : seen.heard()) {
            peers.computeIfAbsent(each.by() + " " + each.on(), _ -> new HashSet<>())
                    .add(each.node());
        }
        Set<String> paired = new HashSet<>();
        StringBuilder list = new StringBuilder("# As trigon doctor has found them, for trigon plan\ncables:\n");
        for (Cable cable : of(seen)) {
            boolean direct = Stream.of(cable.from(), cable.to())
                    .allMatch(end -> peers.getOrDefault(end, Set.of()).size() < 2 && !paired.contains(end));
            if (direct) {
                paired.addAll(List.of(cable.from(), cable.to()));
                list.append("  - ")
                        .append(cable.from().replace(' ', ':'))
                        .append(' ')
                        .append(cable.to().replace(' ', ':'))
                        .append('\n');
            }
        }
        return list.toString();
    }

    static List<Cable> of(Observations seen) {
        TreeSet<String> known = new TreeSet<>();
        List<Cable> cables = new ArrayList<>();
        for (Heard each : seen.heard()) {
            String one = each.by() + " " + each.on();
            String other = each.node() + " " + each.from();
            Cable cable = one.compareTo(other) < 0 ? new Cable(one, other) : new Cable(other, one);
            if (known.add(cable.toString())) {
                cables.add(cable);
            }
        }
        cables.sort(java.util.Comparator.comparing(Cable::from).thenComparing(Cable::to));
        return cables;
    }
}
