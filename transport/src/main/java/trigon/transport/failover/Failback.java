package trigon.transport.failover;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.transport.connect.Counterpart;
import trigon.transport.failover.search.PathSearch;
import trigon.transport.session.Resumption;

/**
 * The failback of a sender to the links that it has left: when the peer answers there and they have rested, at a
 * boundary between messages. So nothing is sent again, and nothing fails. One control thread at a time; what it does
 * to the session it does with {@link SenderFailover#use} held, and not once the session is closed.
 */
final class Failback {

    static final String WHY = "the better path is up again";

    /** So long messages are held back at most; then it is tried again later. */
    private static final Duration HELD = Duration.ofMillis(50);

    private static final Duration LOOK = Duration.ofMillis(1);

    private final SenderFailover sender;
    private final Resumption session;
    private final Counterpart peer;
    private final PathSearch paths;
    private final Journal journal;
    private final FailbackTimer timer;
    private final FailoverEnd end;

    private final List<LocalLink> home;

    /** Messages begun at the last look; none have since, if there are as many now. */
    private long begunBefore = -1;

    Failback(
            SenderFailover sender,
            Resumption session,
            Counterpart peer,
            Journal journal,
            FailoverServices services,
            FailoverEnd end) {
        this.sender = sender;
        this.session = session;
        this.peer = peer;
        paths = services.paths();
        this.journal = journal;
        timer = services.failbacks();
        this.end = end;
        home = session.paths().stream().map(path -> path.link().local()).toList();
    }

    /** The session goes over those paths now: it looks for its first links, unless they are it. */
    void noteMove(List<Path> now) {
        boolean away = !now.stream().map(Path::local).toList().equals(home)
                || now.stream().anyMatch(Path::isRelayed);
        timer.note(sender, away && !end.isReached());
    }

    /** The paths back, one for each queue pair, if they may be taken now. May block. */
    Optional<List<Path>> find() {
        Map<LocalLink, Path> found = new HashMap<>();
        for (LocalLink link : new LinkedHashSet<>(home)) {
            Optional<Path> direct = journal.hasRested(link) ? paths.direct(peer, link) : Optional.empty();
            if (direct.isEmpty()) {
                return Optional.empty();
            }
            if (!paths.probe(peer, direct.get(), end.reached())) {
                journal.logSilence(link);
                return Optional.empty();
            }
            found.put(link, direct.get());
        }
        return Optional.of(
                home.stream().map(found::get).map(Objects::requireNonNull).toList());
    }

    /** They did not come up. The session stands still until it moves. */
    void fence() {
        synchronized (sender.use) {
            if (!sender.endIfLost()) {
                session.fence("moving back to a better path failed");
            }
        }
    }

    /** Stops the session at a boundary between messages; null if there is none soon. */
    Resumption.@Nullable Counts stopBetweenMessages(long start, BooleanSupplier isWell) {
        boolean idle;
        synchronized (sender.use) {
            if (end.isReached()) {
                return null;
            }
            long begun = session.begun();
            idle = begun == begunBefore;
            begunBefore = begun;
            session.holdBack(true);
        }
        while (System.nanoTime() - start < HELD.toNanos() && isWell.getAsBoolean()) {
            synchronized (sender.use) {
                if (end.isReached()) {
                    return null;
                }
                Resumption.Counts counts = session.stopBetweenMessages(idle);
                if (counts != null) {
                    return counts;
                }
            }
            end.sleep(LOOK);
        }
        synchronized (sender.use) {
            if (!end.isReached()) {
                session.holdBack(false);
            }
        }
        return null;
    }

    /** It has come to its end. */
    void close() {
        timer.note(sender, false);
    }
}
