package trigon.cluster.cabling;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import trigon.cluster.probe.Observations;

/**
 * Which ends of cables are on one wire: those that hear each other, directly or by others. The functions of a port are
 * on one wire with those of the other end, and the ports of a switch are on one. An end is a node and its interface.
 */
public final class Wires {

    private final Observations seen;
    private final Map<String, Set<String>> wires = new HashMap<>();

    public Wires(Observations seen) {
        this.seen = seen;
        seen.heard().forEach(each -> {
            Set<String> both = new TreeSet<>(on(each.by() + " " + each.on()));
            both.addAll(on(each.node() + " " + each.from()));
            both.forEach(end -> wires.put(end, both));
        });
    }

    private Set<String> on(String end) {
        return wires.getOrDefault(end, Set.of(end));
    }

    /** The same text for all ends of a wire; empty for an end that has not been heard. */
    public Optional<String> of(String end) {
        return Optional.ofNullable(wires.get(end)).map(ends -> ends.iterator().next());
    }

    /** The ends on the same wire, itself among them. */
    public List<String> with(String end) {
        return List.copyOf(on(end));
    }

    /** All wires, each by its ends. */
    public List<List<String>> all() {
        return wires.values().stream()
                .distinct()
                .map(List::copyOf)
                .sorted(Comparator.comparing(List::getFirst))
                .toList();
    }

    /** Tells whether it is known of both where they lead, and that this is not to each other. */
    public boolean areApart(String one, String other) {
        return of(one).isPresent() && of(other).isPresent() && !of(one).equals(of(other));
    }

    /** The ends that one has heard. */
    public Set<String> heardBy(String end) {
        return seen.heard().stream()
                .filter(each -> end.equals(each.by() + " " + each.on()))
                .map(each -> each.node() + " " + each.from())
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
