package trigon.transport.failover;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Answers to the offers of a sender's latest attempt, by queue pair, until all of them are up. Guarded by
 * its owner.
 *
 * @param <P> an end of a queue pair
 */
final class AnsweredOffers<P> {

    private final SortedMap<Integer, P> byIndex = new TreeMap<>();
    private final Set<P> up = new HashSet<>();

    /** An offer was answered with that. Returns what it takes the place of, which is its caller's then. */
    @Nullable
    P put(int index, P answer) {
        P former = byIndex.put(index, answer);
        up.remove(former);
        return former;
    }

    boolean has(P answer) {
        return byIndex.containsValue(answer);
    }

    /** It is not waited for any more: the offer is made again. */
    void withdraw(P answer) {
        byIndex.values().remove(answer);
        up.remove(answer);
    }

    /** It is up at both ends. Once that is true of so many, returns all in their order, and forgets them; else none. */
    List<P> ready(P answer, int count) {
        up.add(answer);
        return up.size() < count ? List.of() : takeAll();
    }

    /** Forgets all of them. */
    List<P> takeAll() {
        List<P> all = List.copyOf(byIndex.values());
        byIndex.clear();
        up.clear();
        return all;
    }
}
