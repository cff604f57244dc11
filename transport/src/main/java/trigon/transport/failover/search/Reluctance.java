package trigon.transport.failover.search;

import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import trigon.routing.Path;

/** What speaks against a path, from least to most. */
public enum Reluctance {
    /** Nothing does. */
    NONE,
    /** Its link fails again and again, though it may work just now. */
    FAILS_OFTEN,
    /** It has failed for this connection, or no new queue pair has come up over its link. */
    HAS_FAILED;

    /** Those against which the least speaks, in their order: a path that fails often goes before one that is dead. */
    static List<Path> leastOf(List<Path> paths, Function<Path, Reluctance> reluctance) {
        return paths.stream()
                .map(reluctance)
                .min(Comparator.naturalOrder())
                .map(least -> paths.stream()
                        .filter(path -> reluctance.apply(path) == least)
                        .toList())
                .orElse(List.of());
    }
}
