package trigon.transport.failover;

import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.routing.LocalLink;
import trigon.trace.TraceLog;
import trigon.transport.failover.search.PathPenalty;
import trigon.transport.path.ConnectionDigest;
import trigon.transport.path.PathChannel;

/** Says what becomes of one connection: in the log, the counters and the trace. Thread-safe. */
final class Journal {

    private static final Logger log = LoggerFactory.getLogger(Journal.class);

    private final PathHealth health;
    private final String peer;
    private final String direction;
    private final String connection;

    /**
     * Makes one of a connection over its first path.
     *
     * @param health of all connections' paths
     * @param peer its name
     */
    Journal(PathHealth health, PathChannel first, String peer, boolean sends) {
        this.health = health;
        this.peer = peer;
        direction = sends ? "to" : "from";
        connection = ConnectionDigest.of(first, sends);
    }

    /** Tells whether its connection may go back to that link, as far as failures go. */
    boolean hasRested(LocalLink link) {
        return health.hasRested(link, peer);
    }

    /** Nobody answers over that link. */
    void logSilence(LocalLink link) {
        health.markSilent(link, peer);
    }

    /** No path came up over that link, though the peer answers there. */
    void logNoPath(LocalLink link, String why) {
        health.markDead(link, peer, why);
    }

    PathPenalty penalty(LocalLink link) {
        return health.penalty(link, peer);
    }

    /**
     * Its paths are given up, since one of them has failed.
     *
     * @param known those of which that is known, if it is of any
     */
    void logLoss(List<PathChannel> paths, Set<PathChannel> known, String why) {
        List<PathChannel> failed = paths.size() == 1
                ? paths
                : paths.stream()
                        .filter(path -> known.contains(path)
                                || path.isQuiet()
                                || !path.link().isUp())
                        .toList();
        failed.forEach(path -> health.markFailed(path.link().local(), peer, why));
        if (failed.isEmpty()) {
            log.warn("the connection {} {} over {} has lost a queue pair: {}", direction, peer, words(paths), why);
        }
        TraceLog.event("failover", "connection", connection, "path", paths.getFirst(), "why", why);
    }

    /**
     * It goes on over other paths.
     *
     * @param pauseNanos since it was noticed that the former one fails
     * @param messages that are sent again from here
     * @param bytes of these
     */
    void logMove(
            List<PathChannel> previous,
            List<PathChannel> next,
            String why,
            long pauseNanos,
            long messages,
            long bytes) {
        log.info(
                "the connection {} {} goes on over {} instead of {} after {} ms: {}; {} messages of {} bytes are sent"
                        + " again",
                direction,
                peer,
                words(next),
                words(previous),
                TimeUnit.NANOSECONDS.toMillis(pauseNanos),
                why,
                messages,
                bytes);
        previous.getFirst().link().counters().failovers(peer).failedOver(pauseNanos, messages, bytes);
        moved(previous, next, why, pauseNanos, messages);
    }

    /** It has returned to a path that is well again; nothing is sent again. */
    void logReturn(List<PathChannel> previous, List<PathChannel> next, long pauseNanos) {
        String why = Failback.WHY;
        log.info(
                "the connection {} {} returns to {} from {} after {} ms: {}",
                direction,
                peer,
                words(next),
                words(previous),
                TimeUnit.NANOSECONDS.toMillis(pauseNanos),
                why);
        next.getFirst().link().counters().failovers(peer).returned();
        moved(previous, next, why, pauseNanos, 0);
    }

    private void moved(List<PathChannel> previous, List<PathChannel> next, String why, long pauseNanos, long messages) {
        next.forEach(path -> health.markWell(path.link().local(), peer));
        TraceLog.event(
                "path moved",
                "connection",
                connection,
                "from",
                words(previous),
                "to",
                words(next),
                "why",
                why,
                "pause",
                pauseNanos,
                "messages",
                messages);
    }

    private static String words(List<PathChannel> paths) {
        return paths.stream().map(Journal::words).distinct().collect(Collectors.joining(" and "));
    }

    private static String words(PathChannel path) {
        String relays = path.counters().relays();
        return relays.isEmpty() ? path.link().toString() : path.link() + " relayed by " + relays;
    }
}
