package trigon.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import trigon.tools.probe.Observations;
import trigon.tools.probe.Observations.Heard;

/** Which interfaces hear each other. */
final class Cables {

    /** Two ends, each a node and its interface, in the order of their names. */
    record Cable(String from, String to) {}

    private Cables() {}

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
