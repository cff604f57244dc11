package trigon.transport.failover;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.routing.LocalLink;
import trigon.system.NanoClock;
import trigon.transport.failover.search.PathPenalty;

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

    /** A link that has earned itself so long a rest fails again and again. */
    static final Duration AVOIDED = FIRST_REST.multipliedBy(4);

    /** One that has been well for so many rests begins with the first one again. */
    private static final int WELL = 4;

    private record PeerLink(LocalLink link, String peer) {}

    /** For how long a link rests, and when that was decided: all that fails within a second is one failure. */
    private record Rest(Duration length, long decided) {

        private static final Duration ONE_FAILURE = Duration.ofSeconds(1);

        static Rest first(long now) {
            return new Rest(FIRST_REST, now);
        }

        Rest longer(long now) {
            if (now - decided < ONE_FAILURE.toNanos()) {
                return this;
            }
            Duration doubled = length.multipliedBy(2);
            return new Rest(doubled.compareTo(LONGEST_REST) < 0 ? doubled : LONGEST_REST, now);
        }

        boolean isLong() {
            return length.compareTo(AVOIDED) >= 0;
        }

        boolean isOver(long since, long now) {
            return now - since >= length.toNanos();
        }
    }

    /** A link that has failed, or had. */
    private sealed interface Condition {}

    /** It has failed: when, since when it has rested, and whether no new path has come up over it since. */
    private record Down(long since, long restsSince, Rest rest, boolean dead) implements Condition {

        boolean hasRested(long now) {
            return rest.isOver(restsSince, now);
        }
    }

    /** It works again since then, for some connection; and when it has failed last. */
    private record Recovered(long since, long failed, Rest rest) implements Condition {

        Rest afterFailure(long now) {
            return now - since > rest.length.multipliedBy(WELL).toNanos() ? Rest.first(now) : rest.longer(now);
        }
    }

    private final NanoClock clock;
    private final Map<PeerLink, Condition> conditions = new HashMap<>();

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
        markDown(link, peer, why, false);
    }

    /** A new path over that link to that peer has not come up, though the peer answers there. */
    synchronized void markDead(LocalLink link, String peer, String why) {
        markDown(link, peer, why, true);
    }

    private void markDown(LocalLink link, String peer, String why, boolean dead) {
        PeerLink over = new PeerLink(link, peer);
        long now = clock.nanoTime();
        switch (conditions.get(over)) {
            case Down down -> { // by another connection: the same failure, unless it has rested
                Rest rest = down.hasRested(now) ? down.rest.longer(now) : down.rest;
                conditions.put(over, new Down(down.since, now, rest, down.dead || dead));
                return;
            }
            case Recovered recovered -> conditions.put(over, new Down(now, now, recovered.afterFailure(now), dead));
            case null -> conditions.put(over, new Down(now, now, Rest.first(now), dead));
        }
        log.warn("{}: path to {} down: {}; failing over", link, peer, why);
    }

    /** Nobody answers over it: it rests on. */
    synchronized void markSilent(LocalLink link, String peer) {
        conditions.computeIfPresent(
                new PeerLink(link, peer),
                (_, known) -> known instanceof Down down
                        ? new Down(down.since, clock.nanoTime(), down.rest, down.dead)
                        : known);
    }

    /** A connection goes on over that link to that peer. */
    synchronized void markWell(LocalLink link, String peer) {
        PeerLink over = new PeerLink(link, peer);
        if (conditions.get(over) instanceof Down down) {
            long now = clock.nanoTime();
            conditions.put(over, new Recovered(now, down.restsSince, down.rest));
            log.info(
                    "{}: path to {} up again after {} ms", link, peer, TimeUnit.NANOSECONDS.toMillis(now - down.since));
        }
    }

    /** Tells whether connections may return to it, as far as failures go. */
    synchronized boolean hasRested(LocalLink link, String peer) {
        return switch (conditions.get(new PeerLink(link, peer))) {
            case Down down -> down.hasRested(clock.nanoTime());
            case Recovered recovered -> !failsOften(recovered);
            case null -> true;
        };
    }

    synchronized PathPenalty penalty(LocalLink link, String peer) {
        return switch (conditions.get(new PeerLink(link, peer))) {
            case Down down when down.hasRested(clock.nanoTime()) -> PathPenalty.NONE;
            case Down down when down.dead -> PathPenalty.DEAD;
            case Down down when down.rest.isLong() -> PathPenalty.FAILS_OFTEN;
            case Recovered recovered when failsOften(recovered) -> PathPenalty.FAILS_OFTEN;
            case null, default -> PathPenalty.NONE;
        };
    }

    /** That a connection has moved there says little of a link that fails again and again. */
    private boolean failsOften(Recovered recovered) {
        return recovered.rest.isLong() && !recovered.rest.isOver(recovered.failed, clock.nanoTime());
    }
}
