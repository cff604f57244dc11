package trigon.transport.failover;

import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.routing.LocalLink;
import trigon.trace.TraceLog;
import trigon.transport.path.ConnectionDigest;
import trigon.transport.path.Link;
import trigon.transport.path.PathChannel;

/** Says what becomes of one connection: in the log, the counters and the trace. Thread-safe. */
final class Journal {

    private static final Logger log = LoggerFactory.getLogger(Journal.class);

    private final PathHealth health;
    private final String peer;
    private final String direction;
    private final String connection;

    /**
     * Of a connection over its first path.
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

    /** Whether its connection may go back to that link, as far as failures go. */
    boolean hasRested(LocalLink link) {
        return health.hasRested(link, peer);
    }

    /** Nobody answers over that link. */
    void isSilent(LocalLink link) {
        health.isSilent(link, peer);
    }

    /** Its path has failed. */
    void lost(PathChannel path, String why) {
        health.failed(path.link().local(), peer, why);
        TraceLog.event("failover", "connection", connection, "path", path, "why", why);
    }

    /**
     * It goes on over another path.
     *
     * @param pauseNanos since it was noticed that the former one fails
     * @param messages that are sent again from here
     * @param bytes of these
     */
    void movedAfterLoss(PathChannel former, PathChannel next, String why, long pauseNanos, long messages, long bytes) {
        log.info(
                "the connection {} {} goes on over {} instead of {} after {} ms: {}; {} messages of {} bytes are sent"
                        + " again",
                direction,
                peer,
                next.link(),
                former.link(),
                TimeUnit.NANOSECONDS.toMillis(pauseNanos),
                why,
                messages,
                bytes);
        former.link().counters().failovers(peer).failedOver(pauseNanos, messages, bytes);
        moved(former, next.link(), why, pauseNanos, messages);
    }

    /** It has returned to a path that is well again; nothing is sent again. */
    void returned(PathChannel former, PathChannel next, long pauseNanos) {
        String why = WayBack.WHY;
        log.info(
                "the connection {} {} returns to {} from {} after {} ms: {}",
                direction,
                peer,
                next.link(),
                former.link(),
                TimeUnit.NANOSECONDS.toMillis(pauseNanos),
                why);
        next.link().counters().failovers(peer).returned();
        moved(former, next.link(), why, pauseNanos, 0);
    }

    private void moved(PathChannel former, Link next, String why, long pauseNanos, long messages) {
        health.works(next.local(), peer);
        TraceLog.event(
                "path moved",
                "connection",
                connection,
                "from",
                former.link(),
                "to",
                next,
                "why",
                why,
                "pause",
                pauseNanos,
                "messages",
                messages);
    }
}
