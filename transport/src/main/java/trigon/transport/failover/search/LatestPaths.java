package trigon.transport.failover.search;

import java.util.Collection;
import java.util.Set;
import trigon.routing.Path;

/** The paths that a session has moved to last: they may look well while nothing gets across. Guarded by its owner. */
public final class LatestPaths {

    private Set<Path> paths = Set.of();
    private long acrossThen = -1;

    /** Notes the paths that a session goes on over, and the number of messages that have got across until now. */
    public void replace(Collection<Path> now, long across) {
        paths = Set.copyOf(now);
        acrossThen = across;
    }

    /**
     * Those to leave out for once: one of them would be taken again, and nothing has got across since the move.
     *
     * @return empty if there is nothing against them; the next time they are taken again
     */
    public Set<Path> fruitless(Collection<Path> next, long across) {
        if (across > acrossThen || next.stream().noneMatch(paths::contains)) {
            return Set.of();
        }
        Set<Path> fruitless = paths;
        paths = Set.of();
        return fruitless;
    }
}
