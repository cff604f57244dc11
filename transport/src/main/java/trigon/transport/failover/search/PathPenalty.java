package trigon.transport.failover.search;

import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import trigon.routing.Path;

/** A penalty of a path in the search for one to go on over, from least to most. */
public enum PathPenalty {
    NONE,
    /** Its link fails again and again, though it may work just now. */
    FAILS_OFTEN,
    /** A request of this connection has failed over its link, which may be well all the same. */
    HAS_FAILED,
    /** It would do, but it carries less than one that {@link #HAS_FAILED}, or the same by TCP instead of RDMA. */
    LESSER,
    /** Only frames that are smaller than its interfaces' pass. */
    NARROW,
    /** No new queue pair has come up over its link. */
    DEAD,
    /** The same a moment ago, in this search: one that is {@link #DEAD} may be well again. */
    JUST_FAILED;

    /** The same, as these paths compare with each other. */
    static Function<Path, PathPenalty> among(List<Path> paths, Function<Path, PathPenalty> penalty) {
        List<Path> failed =
                paths.stream().filter(path -> penalty.apply(path) == HAS_FAILED).toList();
        return path -> {
            PathPenalty own = penalty.apply(path);
            boolean lesser = own.compareTo(HAS_FAILED) < 0 && failed.stream().anyMatch(other -> isLesser(path, other));
            return lesser ? LESSER : own;
        };
    }

    private static boolean isLesser(Path path, Path than) {
        return than.bandwidth().exceeds(path.bandwidth()) || path.kind().compareTo(than.kind()) > 0;
    }

    /** Those against which the least speaks, in their order. */
    static List<Path> leastOf(List<Path> paths, Function<Path, PathPenalty> penalty) {
        return paths.stream()
                .map(penalty)
                .min(Comparator.naturalOrder())
                .map(least -> paths.stream()
                        .filter(path -> penalty.apply(path) == least)
                        .toList())
                .orElse(List.of());
    }
}
