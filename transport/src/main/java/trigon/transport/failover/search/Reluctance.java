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
    /** A request of this connection has failed over its link, which may be well all the same. */
    HAS_FAILED,
    /** It would do, but it carries less than one that {@link #HAS_FAILED}, or the same by TCP instead of RDMA. */
    LESSER,
    /** No new queue pair has come up over its link. */
    DEAD;

    /** The same, as these paths compare with each other. */
    static Function<Path, Reluctance> among(List<Path> paths, Function<Path, Reluctance> reluctance) {
        List<Path> failed = paths.stream()
                .filter(path -> reluctance.apply(path) == HAS_FAILED)
                .toList();
        return path -> {
            Reluctance own = reluctance.apply(path);
            boolean lesser = own.compareTo(HAS_FAILED) < 0 && failed.stream().anyMatch(other -> isLesser(path, other));
            return lesser ? LESSER : own;
        };
    }

    private static boolean isLesser(Path path, Path than) {
        return than.bandwidth().exceeds(path.bandwidth()) || path.kind().compareTo(than.kind()) > 0;
    }

    /** Those against which the least speaks, in their order. */
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
