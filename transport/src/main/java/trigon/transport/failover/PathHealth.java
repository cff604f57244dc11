package trigon.transport.failover;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.routing.LocalLink;
import trigon.system.NanoClock;

/**
 * Which links have failed on the way to which peers, for all connections of a plugin: a loss is said once, and so is
 * its end. A link that has failed is taken again after a while, which doubles each time it fails soon. Thread-safe.
 */
final class PathHealth {

    private static final Logger log = LoggerFactory.getLogger(PathHealth.class);

    /** A link rests so long after its first failure. */
    static final Duration FIRST_REST = Duration.ofSeconds(5);

    /** And so long at most. */
    static final Duration LONGEST_REST = Duration.ofMinutes(5);

    /** One that has been well for so many rests begins with the first one again. */
    private static final int WELL = 4;

    private record Way(LocalLink link, String peer) {}

    /** A link that has failed, or had. */
    private sealed interface Condition {}

    /** It has failed: when, and since when it has rested. */
    private record Down(long since, long restsSince, Duration rest) implements Condition {}

    /** It works again since then. */
    private record Recovered(long since, Duration rest) implements Condition {}

    private final NanoClock clock;
    private final Map<Way, Condition> conditions = new HashMap<>();

    /**
     * Nothing has failed.
     *
     * @param clock what rests are measured by
     */
    PathHealth(NanoClock clock) {
        this.clock = clock;
    }

    /** A path over that link to that peer has failed. */
    synchronized void markFailed(LocalLink link, String peer, String why) {
        Way way = new Way(link, peer);
        long now = clock.nanoTime();
        Condition known = conditions.get(way);
        if (known instanceof Down down) { // another connection over it: the same failure
            conditions.put(way, new Down(down.since, now, down.rest));
            return;
        }
        conditions.put(way, new Down(now, now, restAfter(known, now)));
        log.warn("{}: path to {} down: {}; failing over", link, peer, why);
    }

    private static Duration restAfter(@Nullable Condition known, long now) {
        if (!(known instanceof Recovered(long since, Duration rest))
                || now - since > rest.multipliedBy(WELL).toNanos()) {
            return FIRST_REST;
        }
        Duration doubled = rest.multipliedBy(2);
        return doubled.compareTo(LONGEST_REST) < 0 ? doubled : LONGEST_REST;
    }

    /** Nobody answers over it: it rests on. */
    synchronized void markSilent(LocalLink link, String peer) {
        conditions.computeIfPresent(
                new Way(link, peer),
                (_, known) -> known instanceof Down down ? new Down(down.since, clock.nanoTime(), down.rest) : known);
    }

    /** A connection goes on over that link to that peer. */
    synchronized void markWell(LocalLink link, String peer) {
        Way way = new Way(link, peer);
        if (conditions.get(way) instanceof Down down) {
            long now = clock.nanoTime();
            conditions.put(way, new Recovered(now, down.rest));
            log.info(
                    "{}: path to {} up again after {} ms", link, peer, TimeUnit.NANOSECONDS.toMillis(now - down.since));
        }
    }

    /** Whether connections may return to it, as far as failures go. */
    synchronized boolean hasRested(LocalLink link, String peer) {
        return !(conditions.get(new Way(link, peer)) instanceof Down down)
                || clock.nanoTime() - down.restsSince >= down.rest.toNanos();
    }
}
