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

    /** When it failed, and how long it rests since. */
    private record Failure(long at, boolean over, long overAt, Duration rest) {}

    private final NanoClock clock;
    private final Map<Way, Failure> failures = new HashMap<>();

    /**
     * Nothing has failed.
     *
     * @param clock what rests are measured by
     */
    PathHealth(NanoClock clock) {
        this.clock = clock;
    }

    /** A path over that link to that peer has failed. */
    synchronized void failed(LocalLink link, String peer, String why) {
        Way way = new Way(link, peer);
        Failure known = failures.get(way);
        long now = clock.nanoTime();
        if (known != null && !known.over) {
            failures.put(way, new Failure(now, false, 0, known.rest));
            return; // another connection over it: the same failure
        }
        failures.put(way, new Failure(now, false, 0, restAfter(known, now)));
        log.warn("{}: the path to {} is lost: {}. Its connections look for another one", link, peer, why);
    }

    private static Duration restAfter(@Nullable Failure known, long now) {
        if (known == null || now - known.overAt > known.rest.multipliedBy(WELL).toNanos()) {
            return FIRST_REST;
        }
        Duration doubled = known.rest.multipliedBy(2);
        return doubled.compareTo(LONGEST_REST) < 0 ? doubled : LONGEST_REST;
    }

    /** Nobody answers over it: it rests on. */
    synchronized void markSilent(LocalLink link, String peer) {
        failures.computeIfPresent(
                new Way(link, peer),
                (_, known) -> known.over ? known : new Failure(clock.nanoTime(), false, 0, known.rest));
    }

    /** A connection goes on over that link to that peer. */
    synchronized void works(LocalLink link, String peer) {
        Way way = new Way(link, peer);
        Failure known = failures.get(way);
        if (known != null && !known.over) {
            long now = clock.nanoTime();
            failures.put(way, new Failure(known.at, true, now, known.rest));
            log.warn(
                    "{}: the path to {} is back, {} ms after it was lost",
                    link,
                    peer,
                    TimeUnit.NANOSECONDS.toMillis(now - known.at));
        }
    }

    /** Whether connections may return to it, as far as failures go. */
    synchronized boolean hasRested(LocalLink link, String peer) {
        Failure known = failures.get(new Way(link, peer));
        return known == null || known.over || clock.nanoTime() - known.at >= known.rest.toNanos();
    }
}
