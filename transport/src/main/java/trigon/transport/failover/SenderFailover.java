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
import trigon.system.NanoClock;
import trigon.transport.connect.Counterpart;
import trigon.transport.failover.OfferAttempt.Answered;
import trigon.transport.failover.search.Found;
import trigon.transport.failover.search.LatestPaths;
import trigon.transport.failover.search.PathPenalty;
import trigon.transport.failover.search.PathSearch;
import trigon.transport.failover.search.ProvenEnds;
import trigon.transport.failover.search.Search;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathKeeper;
import trigon.transport.path.PathLoss;
import trigon.transport.protocol.MessageProtocol;
import trigon.transport.resume.SenderResume;
import trigon.transport.resume.SenderResume.State;
import trigon.transport.session.Failover;
import trigon.transport.session.Resumption;
import trigon.verbs.VerbsException;

/**
 * Leads a sender's session to another path when its own fails: it asks over all paths whether the peer lives; once it
 * has an answer, it fences its path, offers a new one, and sends again what the receiver does not have.
 *
 * <p>One step after the other is done on a control thread while there is something to do, and none waits for answers.
 * What is done to the session takes long, and is done with {@link #use} held, and not once the session is closed. The
 * failover's own lock, which is taken after that one, is held briefly: an event loop waits for it.
 */
final class SenderFailover implements Failover {

    private static final Logger log = LoggerFactory.getLogger(SenderFailover.class);

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

    private final Resumption session;
    private final Counterpart peer;
    private final PathSearch paths;
    private final PathOffers offers;
    private final Journal journal;
    private final Failback back;
    private final FailoverTasks tasks;
    private final FailoverSteps steps;
    private final Duration peerTimeout;
    private final NanoClock clock;
    private final FailoverEnd end = new FailoverEnd();
    private final ProvenEnds proven = new ProvenEnds();

    /** Held by who does something to the session. */
    final Object use = new Object();

    /** Changed by who works. */
    private volatile SenderResume resume = SenderResume.up();

    private final LatestPaths latest = new LatestPaths();
    private final PathSuspicion suspicion;
    private final StallWatch stalls;
    private final StalledSender stalled;
    private boolean working;

    /**
     * Makes one of a session that is up.
     *
     * @param journal says what becomes of it
     */
    SenderFailover(Resumption session, Counterpart peer, Journal journal, FailoverServices services) {
        this.session = session;
        this.peer = peer;
        paths = services.paths();
        offers = services.offers();
        this.journal = journal;
        back = new Failback(this, session, peer, journal, services, end);
        tasks = services.tasks();
        steps = new FailoverSteps(tasks, session, this::giveUp, this::cannotLook);
        suspicion = new PathSuspicion(session.paths());
        peerTimeout = services.peerTimeout();
        clock = services.clock();
        stalls = services.stalls();
        stalled = new StalledSender(peer, session, services, suspicion, end, this::breakPath);
        stalls.add(stalled);
    }

    /** Looks after a path that is in use from now on. */
    void lookAfter(PathChannel path) {
        proven.add(path);
        path.keptBy(new PathKeeper() {
            @Override
            public boolean takeOver(PathLoss loss) {
                return SenderFailover.this.takeOver(path, loss);
            }

            @Override
            public void suspect() {
                SenderFailover.this.suspect(path);
            }
        });
    }

    private synchronized boolean takeOver(PathChannel path, PathLoss loss) {
        if (endIfLost()) {
            return false;
        }
        if (!suspicion.isOf(path)) {
            return true; // nobody uses it any more
        }
        if (!suspicion.note(path, loss, resume.state() != State.UP)) {
            end.reach();
            return false;
        }
        work();
        return true;
    }

    private synchronized void suspect(PathChannel path) {
        if (suspicion.isOf(path) && !working) {
            suspicion.markQuiet();
            work();
        }
    }

    private void breakPath(PathChannel path, String why) {
        suspicion.markBroken(path, why);
        work();
    }

    @Override
    public boolean recoverFrom(PathChannel path, String what) {
        suspicion.markBroken(path, what);
        return tasks.fromDataPath(this::work) && !end.isReached();
    }

    private synchronized void work() {
        if (!working && !end.isReached()) {
            working = true;
            steps.begin(() -> look(new Search(clock)));
        }
    }

    /** For silence alone it is tried again, when that lasts. */
    private void cannotLook(Throwable why) {
        synchronized (this) {
            working = false;
            if (!suspicion.isKnown()) {
                return;
            }
        }
        giveUp(() -> FailoverEnd.byLackOfThread(session.path(), suspicion.words() + "; and " + why));
    }

    /** One round, in which no thread waits for the answers. */
    private void look(Search search) {
        if (endIfLost()) {
            return;
        }
        steps.beginWith(
                paths.find(peer, peer.connection(), session, search.penalty(this::penalty), proven, end.reached()),
                found -> judge(search, found));
    }

    private PathPenalty penalty(Path path) {
        PathPenalty known = journal.penalty(path.local());
        return known != PathPenalty.DEAD && suspicion.hasFailedOver(path) ? PathPenalty.HAS_FAILED : known;
    }

    private void judge(Search search, Found found) {
        boolean gone = search.observe(found);
        if (found.alive().isEmpty()) {
            lookAgain(search, gone);
        } else if (suspicion.isCertain()) {
            moveOrLookAgain(search, found, gone);
        } else { // a peer that was stopped answers over the path in use, too
            steps.beginLater(PathSuspicion.HEARING, () -> moveOrLookAgain(search, found, gone));
        }
    }

    private void moveOrLookAgain(Search search, Found found, boolean gone) {
        if (stopIfHeardAgain()) {
            return;
        }
        tryMove(found.forQueuePairs(session.queuePairs()), search, move -> goOn(move, search, gone));
    }

    private void goOn(Move move, Search search, boolean gone) {
        switch (move) {
            case MADE -> {
                if (!finishIfWell()) {
                    search.restart();
                    look(search);
                }
            }
            case FAILED -> {
                search.countFailedMove();
                lookAgain(search, gone);
            }
            case REFUSED -> {}
        }
    }

    private void lookAgain(Search search, boolean gone) {
        if (endIfLost() || stopIfHeardAgain()) {
            return;
        }
        if (gone) {
            giveUp(() -> FailoverEnd.byAbsence(session.path()));
        } else if (isOver(search)) {
            giveUp(() -> FailoverEnd.byTime(session.path(), suspicion.words() + paths.notTaken(peer, session)));
        } else {
            if (search.warnsNow()) {
                boolean stopped = search.isPeerStopped() && !suspicion.isKnown();
                journal.logWait(session.path(), stopped, suspicion.words() + paths.notTaken(peer, session));
            }
            steps.beginLater(search.nextPause(), () -> look(search));
        }
    }

    /** Tells whether the path in use was only quiet, and is not any more: then nothing more is done. */
    private synchronized boolean stopIfHeardAgain() {
        if (resume.state() == State.UP && suspicion.clearIfHeard()) {
            journal.logHeard();
            working = false;
        }
        return !working;
    }

    /** Tells whether it is for this to say that the time is over, and not for the lifeline. */
    private boolean isOver(Search search) {
        return search.isOver(peerTimeout) && (suspicion.isKnown() || resume.state() != State.UP);
    }

    /** Tells whether all is well with the path in use; then nothing more is done. */
    private synchronized boolean finishIfWell() {
        working = suspicion.isThere();
        return !working;
    }

    /** Tells whether it is of no use to look for a path any more. */
    synchronized boolean endIfLost() {
        if (session.isLost()) {
            end.reach();
        }
        return end.isReached();
    }

    /** Goes on over those paths, one for each queue pair; what comes of it goes to that. */
    private void tryMove(List<Path> over, Search search, Consumer<Move> then) {
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
        synchronized (use) {
            if (endIfLost()) {
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
        CompletableFuture<Outcome> outcome = offers.offer(peer, by, over, resume, end.reached(), tasks.leading())
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
        synchronized (use) {
            resume = resume.answered(resume.attempt(), answered.received());
            if (resume.state() == State.LOST || endIfLost()) {
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
            answered.paths().forEach(this::lookAfter);
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
    private synchronized PathSuspicion.Before confirm(List<PathChannel> next) {
        resume = resume.confirmed(resume.attempt());
        return suspicion.moveTo(next);
    }

    /** Goes back to its first links, if they are well again. Waits until it is there, or has failed. */
    void failBack() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        back.find()
                .filter(_ -> tryBegin())
                .ifPresentOrElse(better -> steps.run(() -> returnTo(better, done)), () -> done.complete(null));
        CompletableFuture.anyOf(done, end.reached()).join();
    }

    private synchronized boolean tryBegin() {
        boolean begins = !working && !endIfLost();
        working |= begins;
        return begins;
    }

    private void returnTo(List<Path> better, CompletableFuture<Void> done) {
        Search search = new Search(clock);
        Resumption.Counts counts = back.stopBetweenMessages(System.nanoTime(), () -> !suspicion.isKnown());
        if (counts == null) {
            endReturn(Move.MADE, search, done);
        } else {
            resume = resume.broken().fenced(counts.begun(), counts.confirmed()).challenged();
            moveTo(better, search, Failback.WHY, true, move -> endReturn(move, search, done));
        }
    }

    private void endReturn(Move move, Search search, CompletableFuture<Void> done) {
        done.complete(null);
        if (move == Move.FAILED) {
            back.fence();
        }
        if (move == Move.FAILED || (move == Move.MADE && !finishIfWell())) {
            steps.begin(() -> look(search));
        }
    }

    private void repeat() {
        synchronized (use) {
            if (!endIfLost() && session.repeat()) {
                steps.beginLater(MOMENT, this::repeat);
            }
        }
    }

    /** The peer's end says that it is lost: its lifeline may say why, within a moment. */
    private void refusedBy(PathChannel previous, String why) {
        steps.beginLater(REASON_TIMEOUT, () -> {
            if (!endIfLost()) {
                giveUp(() -> FailoverEnd.byRefusal(previous, why));
            }
        });
    }

    private void giveUpLost(PathChannel previous) {
        giveUp(() -> FailoverEnd.byFailure(
                previous, suspicion.words() + "; and " + resume.lost().words()));
    }

    private void giveUp(Runnable loss) {
        synchronized (this) {
            if (!end.reach()) {
                return;
            }
        }
        loss.run();
    }

    @Override
    public void close() {
        stalls.remove(stalled);
        end.reach();
        synchronized (use) {
            back.close();
        }
    }
}
