package trigon.transport.failover;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.routing.Path;
import trigon.transport.connect.Counterpart;
import trigon.transport.failover.OfferAttempt.Answered;
import trigon.transport.failover.search.LatestPaths;
import trigon.transport.failover.search.Search;
import trigon.transport.path.PathChannel;
import trigon.transport.protocol.MessageProtocol;
import trigon.transport.resume.SenderResume;
import trigon.transport.resume.SenderResume.State;
import trigon.transport.session.Resumption;
import trigon.verbs.VerbsException;

/**
 * Moves of a sender's session to other paths: it is fenced and counted, new queue pairs are offered, and once they are
 * up the session goes on over them from the first message that the receiver lacks. One step after the other, on control
 * threads, with {@link SenderFailover#use} held where something is done to the session.
 */
final class SenderMoves {

    private static final Logger log = LoggerFactory.getLogger(SenderMoves.class);

    /**
     * The session that moves.
     *
     * @param journal says what becomes of it
     * @param suspicion what speaks against its paths
     * @param end of its failover
     */
    record Moved(Resumption session, Counterpart peer, Journal journal, PathSuspicion suspicion, FailoverEnd end) {}

    /** End of an attempt to bring up new paths. */
    private record Outcome(
            @Nullable Answered answered, @Nullable Throwable why) {

        /** Why none came up; what is no failure of a path ends the failover. */
        OfferAttempt.FailedException failure() {
            Throwable cause = why instanceof CompletionException ? why.getCause() : why;
            if (cause instanceof OfferAttempt.FailedException failure) {
                return failure;
            }
            throw new IllegalStateException("no new path came up", why);
        }
    }

    private static final Duration MOMENT = Duration.ofMillis(2);

    /** Time for the lifeline of a peer that is lost to say why. */
    private static final Duration REASON_TIMEOUT = Duration.ofMillis(1500);

    private final SenderFailover sender;
    private final Resumption session;
    private final Counterpart peer;
    private final PathOffers offers;
    private final Journal journal;
    private final FailoverTasks tasks;
    private final Failback back;
    private final FailoverSteps steps;
    private final PathSuspicion suspicion;
    private final FailoverEnd end;

    /** Changed by who works. */
    private volatile SenderResume resume = SenderResume.up();

    /** True if NCCL waited for messages when the session was stopped. Changed by who works. */
    private volatile boolean isAwaited;

    private final LatestPaths latest = new LatestPaths();

    /** Those of a sender whose session is up. */
    SenderMoves(SenderFailover sender, Moved moved, FailoverServices services, Failback back, FailoverSteps steps) {
        this.sender = sender;
        session = moved.session;
        peer = moved.peer;
        offers = services.offers();
        journal = moved.journal;
        tasks = services.tasks();
        this.back = back;
        this.steps = steps;
        suspicion = moved.suspicion;
        end = moved.end;
    }

    /** Returns whether the session uses its paths: it is not on its way to others. */
    boolean isUp() {
        return resume.state() == State.UP;
    }

    /** Goes on over those paths, one for each queue pair; what comes of it goes to that. */
    void tryMove(List<Path> over, Search search, Consumer<Move> then) {
        PathChannel previous = session.path();
        String why = suspicion.words();
        if (!prepareMove(over, search, why)) {
            then.accept(Move.FAILED);
        } else if (resume.state() == State.LOST) {
            giveUpLost(previous);
            then.accept(Move.FAILED);
        } else {
            moveTo(over, search, why, false, then);
        }
    }

    /** Stops the session and counts, if it has not been before; false if there is nothing to move now. */
    private boolean prepareMove(List<Path> over, Search search, String why) {
        synchronized (sender.use) {
            if (sender.endIfLost()) {
                return false;
            }
            if (resume.state() == State.UP) {
                journal.logLoss(session.paths(), suspicion.failed(), why);
                resume = resume.broken();
                Resumption.Counts counts = session.fence(why);
                if (counts == null) {
                    end.reach();
                    return false;
                }
                resume = resume.fenced(counts.begun(), counts.confirmed());
                isAwaited = counts.isAwaited();
                if (search.exclude(latest.fruitless(over, counts.confirmed()))) {
                    return false;
                }
            }
            resume = resume.challenged();
        }
        return true;
    }

    /** The same, once it is stopped and counted. */
    private void moveTo(List<Path> over, Search search, String why, boolean returns, Consumer<Move> then) {
        MessageProtocol by = session.over(over.getFirst());
        CompletableFuture<Outcome> outcome = tasks.whenRoom(
                        isAwaited, () -> new OfferAttempt(offers, peer, by, end.reached(), tasks).make(over, resume))
                .handle(Outcome::new);
        steps.beginWith(
                outcome,
                known -> then.accept(
                        known.answered == null
                                ? noteFailure(known.failure(), search)
                                : take(known.answered, by, over, search, why, returns)));
    }

    private Move noteFailure(OfferAttempt.FailedException e, Search search) {
        PathChannel previous = session.path();
        log.debug("{}: no new path over {}", previous, e.over(), e);
        search.exclude(e.over());
        resume = resume.failed(resume.attempt());
        if (e.isRefusal()) {
            refusedBy(previous, String.valueOf(e.getMessage()));
            return Move.REFUSED;
        }
        if (!end.isReached() && e.isOfPath()) {
            journal.logNoPath(e.over().local(), String.valueOf(e.getMessage()));
        }
        return Move.FAILED;
    }

    /** The new paths are up, and the peer counts on them. */
    private Move take(
            Answered answered, MessageProtocol by, List<Path> over, Search search, String why, boolean returns) {
        PathChannel previous = session.path();
        List<PathChannel> previousPaths = session.paths();
        synchronized (sender.use) {
            resume = resume.answered(resume.attempt(), answered.received());
            if (resume.state() == State.LOST || sender.endIfLost()) {
                answered.paths().forEach(PathChannel::close);
                if (resume.state() == State.LOST) {
                    giveUpLost(previous);
                }
                return Move.FAILED;
            }
            latest.replace(over, answered.received());
            PathSuspicion.Before ofPrevious = confirm(answered.paths());
            try {
                if (!session.moveTo(answered.paths(), by, answered.received())) {
                    end.reach();
                    answered.paths().forEach(PathChannel::close);
                    return Move.FAILED;
                }
            } catch (VerbsException e) {
                log.warn("{}: cannot move to {}: {}", previous, over, e.getMessage());
                answered.paths().forEach(PathOffers::drop);
                search.exclude(over);
                suspicion.restore(ofPrevious);
                resume = resume.broken().fenced(resume.begun(), resume.confirmed());
                return Move.FAILED;
            }
            answered.paths().forEach(sender::lookAfter);
            session.watch();
        }
        previousPaths.forEach(PathChannel::close);
        long paused = search.nanos();
        long repeated = resume.begun() - resume.received();
        if (returns && repeated == 0) {
            journal.logReturn(previousPaths, answered.paths(), paused);
        } else {
            journal.logMove(previousPaths, answered.paths(), why, paused, repeated, session.repeatedBytes());
        }
        back.noteMove(over);
        steps.beginLater(MOMENT, this::repeat);
        return Move.MADE;
    }

    /**
     * The others are in use from now on, before the data path comes in and finds fault with them. With that the state
     * changes: the peer lets go of the previous ones, and while they seemed in use that would be the peer's end.
     */
    private PathSuspicion.Before confirm(List<PathChannel> next) {
        synchronized (sender) {
            resume = resume.confirmed(resume.attempt());
            return suspicion.moveTo(next);
        }
    }

    /** Goes back to these at a boundary between messages; MADE, too, where there is none soon. */
    void returnTo(List<Path> better, Search search, Consumer<Move> then) {
        Resumption.Counts counts = back.stopBetweenMessages(System.nanoTime(), () -> !suspicion.isKnown());
        if (counts == null) {
            then.accept(Move.MADE);
        } else {
            isAwaited = counts.isAwaited();
            resume = resume.broken().fenced(counts.begun(), counts.confirmed()).challenged();
            moveTo(better, search, Failback.WHY, true, then);
        }
    }

    private void repeat() {
        synchronized (sender.use) {
            if (!sender.endIfLost() && session.repeat()) {
                steps.beginLater(MOMENT, this::repeat);
            }
        }
    }

    /** The peer's end says that it is lost: its lifeline may say why, within a moment. */
    private void refusedBy(PathChannel previous, String why) {
        steps.beginLater(REASON_TIMEOUT, () -> {
            if (!sender.endIfLost()) {
                sender.giveUp(() -> FailoverEnd.byRefusal(previous, why));
            }
        });
    }

    private void giveUpLost(PathChannel previous) {
        sender.giveUp(() -> FailoverEnd.byFailure(
                previous, suspicion.words() + "; and " + resume.lost().words()));
    }
}
