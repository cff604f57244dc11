package trigon.transport.connect;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** Counts the connections to each peer, so that they share equal links equally. Thread-safe. */
final class Turns {

    private final ConcurrentMap<Long, Integer> begun = new ConcurrentHashMap<>();

    /** How many connections to that peer have begun before this one: 0 for the first; after 2^31 from 0 again. */
    int next(long peer) {
        return begun.merge(peer, 0, (before, _) -> (before + 1) & Integer.MAX_VALUE);
    }
}
