package trigon.transport.failover;

import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.Reason;
import trigon.transport.connect.Counterpart;
import trigon.transport.session.Resumption;

/**
 * How a sender that has left its first link goes back to it: when the peer answers over it and it has rested, at a
 * boundary between messages. So nothing is sent again, and nothing fails. One control thread at a time.
 */
final class WayBack {

    /** For the log. */
    static final String WHY = "the better path is well again";

    /** So long messages are held back at most; then it is tried again later. */
    private static final Duration HELD = Duration.ofMillis(50);

    private static final Duration LOOK = Duration.ofMillis(1);

    private final SenderFailover sender;
    private final Resumption session;
    private final Counterpart peer;
    private final NewPaths paths;
    private final Journal journal;
    private final Returns returns;
    private final FailoverEnd end;
    private final LocalLink home;

    /** Messages begun at the last look; none have since, if there are as many now. */
    private long begunBefore = -1;

    /** Of a session over its first path. */
    WayBack(
            SenderFailover sender,
            Resumption session,
            Counterpart peer,
            NewPaths paths,
            Journal journal,
            Returns returns,
            FailoverEnd end) {
        this.sender = sender;
        this.session = session;
        this.peer = peer;
        this.paths = paths;
        this.journal = journal;
        this.returns = returns;
        this.end = end;
        home = session.path().link().local();
    }

    /** The session goes over that path now: it looks for its first link, unless that is it. */
    void isOver(Path path) {
        boolean away = !path.local().equals(home) || path.reason() instanceof Reason.Relayed;
        returns.note(sender, away && !end.isReached());
    }

    /** The path back, if it may be taken now. May block. */
    Optional<Path> find() {
        Optional<Path> direct = journal.hasRested(home) ? paths.direct(peer, home) : Optional.empty();
        if (direct.isPresent() && !paths.answers(peer, direct.get(), end.reached())) {
            journal.isSilent(home);
            return Optional.empty();
        }
        return direct;
    }

    /** Stops the session at a boundary between messages; null if there is none soon. */
    Resumption.@Nullable Counts stopBetweenMessages(long start, BooleanSupplier isWell) {
        long begun = session.begun();
        boolean idle = begun == begunBefore;
        begunBefore = begun;
        session.holdBack(true);
        while (System.nanoTime() - start < HELD.toNanos() && !end.isReached() && isWell.getAsBoolean()) {
            Resumption.Counts counts = session.stopBetweenMessages(idle);
            if (counts != null) {
                return counts;
            }
            end.sleep(LOOK);
        }
        session.holdBack(false);
        return null;
    }

    /** It has come to its end. */
    void close() {
        returns.note(sender, false);
    }
}
