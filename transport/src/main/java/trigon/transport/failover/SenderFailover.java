package trigon.transport.failover;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.routing.Path;
import trigon.transport.connect.Counterpart;
import trigon.transport.failover.PathOffers.Answered;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathKeeper;
import trigon.transport.path.PathLoss;
import trigon.transport.resume.SenderResume;
import trigon.transport.resume.SenderResume.State;
import trigon.transport.session.Failover;
import trigon.transport.session.Resumption;
import trigon.verbs.VerbsException;

/**
 * Leads a sender's session to another path when its own fails: it asks over all paths whether the peer lives; once it
 * has an answer, it fences its path, offers a new one, and sends again what the receiver does not have.
 *
 * <p>One control thread works while there is something to do. What it does to the session takes long, and is done with
 * {@link #use} held, and not once the session is closed. The failover's own lock, which is taken after that one, is
 * held briefly: an event loop waits for it.
 */
final class SenderFailover implements Failover {

    private static final Logger log = LoggerFactory.getLogger(SenderFailover.class);

    private static final Duration HEARING = Duration.ofMillis(300);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    private static final Duration LAST_WORDS = Duration.ofMillis(1500);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

    private final Resumption session;
    private final Counterpart peer;
    private final NewPaths paths;
    private final PathOffers offers;
    private final Journal journal;
    private final Failback back;
    private final FailoverTasks tasks;
    private final Duration peerTimeout;
    private final FailoverEnd end = new FailoverEnd();
    private final ProvenEnds proven = new ProvenEnds();

    /** Held by who does something to the session. */
    final Object use = new Object();

    /** Changed by who works. */
    private volatile SenderResume resume = SenderResume.up();

    private final LatestPaths latest = new LatestPaths();
    private final PathSuspicion suspicion;
    private boolean working;
    private boolean givenUp;

    /**
     * Of a session that is up.
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
        suspicion = new PathSuspicion(session.paths());
        peerTimeout = services.peerTimeout();
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
        if (givenUp || endIfLost()) {
            return false;
        }
        if (!suspicion.isOf(path)) {
            return true; // nobody uses it any more
        }
        if (!suspicion.note(loss, resume.state() != State.UP && resume.state() != State.SUSPECT)) {
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

    @Override
    public boolean recoverFrom(String what) {
        suspicion.markBroken(what);
        return tasks.fromDataPath(this::work) && !end.isReached();
    }

    private synchronized void work() {
        if (!working && !givenUp && !end.isReached()) {
            working = true;
            beginToLook();
        }
    }

    private void beginToLook() {
        tasks.begin(() -> orGiveUp(this::lookForAPath), this::cannotLook);
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

    private void orGiveUp(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            log.warn("{}: what should lead it to another path has failed", session.path(), e);
            giveUp(() -> FailoverEnd.byFailure(session.path(), e.toString()));
        }
    }

    private void lookForAPath() {
        long start = System.nanoTime();
        Absence absence = new Absence();
        Duration pause = FIRST_PAUSE;
        Set<Path> failed = new HashSet<>();
        boolean warned = false;
        while (true) {
            PathChannel previous = session.path();
            Found found = paths.find(peer, peer.connection(), session, failed, proven, end.reached());
            boolean gone = absence.observe(found, System.nanoTime());
            failed.clear();
            long waited = System.nanoTime() - start;
            if (!found.alive().isEmpty()) {
                if (!suspicion.isKnown()) {
                    end.sleep(HEARING); // a peer that was stopped answers over the path in use, too
                }
                if (stopIfHeardAgain()) {
                    return;
                }
                if (tryMove(found.forQueuePairs(session.paths().size()), failed, start)) {
                    if (finishIfWell()) {
                        return;
                    }
                    start = System.nanoTime();
                    continue;
                }
            }
            if (endIfLost() || stopIfHeardAgain()) {
                return;
            }
            if (gone) {
                giveUp(() -> FailoverEnd.byAbsence(previous));
                return;
            }
            if (isOver(waited)) {
                giveUp(() -> FailoverEnd.byTime(previous, suspicion.words() + paths.notTaken(peer, session)));
                return;
            }
            if (!warned && !absence.isSeen() && waited > Absence.LASTS.toNanos()) {
                warned = true;
                journal.logWait(previous, suspicion.words() + paths.notTaken(peer, session));
            }
            end.sleep(absence.until(pause, System.nanoTime()));
            pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
        }
    }

    /** Whether the path in use was only quiet, and is not any more: then nothing more is done. */
    private synchronized boolean stopIfHeardAgain() {
        if (resume.state() == State.UP && suspicion.clearIfHeard()) {
            working = false;
        }
        return !working;
    }

    /** Whether it is for this to say that the time is over, and not for the lifeline. */
    private boolean isOver(long waited) {
        return waited > peerTimeout.toNanos() && (suspicion.isKnown() || resume.state() != State.UP);
    }

    /** Whether all is well with the path in use; then nothing more is done. */
    private synchronized boolean finishIfWell() {
        working = suspicion.isThere();
        return !working;
    }

    /** Whether it is of no use to look for a path any more. */
    synchronized boolean endIfLost() {
        if (session.isLost()) {
            end.reach();
        }
        return end.isReached();
    }

    /** Goes on over those paths, one for each queue pair; false if one of them has failed. */
    private boolean tryMove(List<Path> over, Set<Path> failed, long start) {
        PathChannel previous = session.path();
        String why = suspicion.words();
        synchronized (use) {
            if (endIfLost()) {
                return false;
            }
            if (resume.state() == State.UP) {
                journal.logLoss(session.paths(), why);
                resume = resume.broken();
                Resumption.Counts counts = session.fence(why);
                if (counts == null) {
                    end.reach();
                    return false;
                }
                resume = resume.fenced(counts.begun(), counts.confirmed());
                if (failed.addAll(latest.fruitless(over, counts.confirmed()))) {
                    return false;
                }
            }
            resume = resume.challenged();
        }
        if (resume.state() == State.LOST) {
            return giveUpLost(previous);
        }
        return moveTo(over, failed, why, start, false);
    }

    /** The same, once it is stopped and counted. */
    private boolean moveTo(List<Path> over, Set<Path> failed, String why, long start, boolean returns) {
        PathChannel previous = session.path();
        var counts = new trigon.handshake.message.Resumption(resume.attempt(), resume.begun(), resume.confirmed());
        Answered answered;
        try {
            answered = offers.offer(peer, session.protocol(), over, counts, end.reached());
        } catch (PathOffers.FailedException e) {
            log.debug("{}: no new path over {}", previous, e.over(), e);
            failed.add(e.over());
            resume = resume.failed(resume.attempt());
            if (e.isRefusal()) {
                refusedBy(previous, String.valueOf(e.getMessage()));
            }
            return false;
        }
        List<PathChannel> previousPaths = session.paths();
        synchronized (use) {
            resume = resume.answered(resume.attempt(), answered.received());
            if (resume.state() == State.LOST || endIfLost()) {
                answered.paths().forEach(PathChannel::close);
                return resume.state() == State.LOST && giveUpLost(previous);
            }
            latest.are(over, answered.received());
            PathSuspicion.Before ofPrevious = confirm(answered.paths());
            try {
                if (!session.moveTo(answered.paths(), answered.received())) {
                    end.reach();
                    answered.paths().forEach(PathChannel::close);
                    return false;
                }
            } catch (VerbsException e) {
                log.warn("{}: it cannot go on over {}: {}", previous, over, e.getMessage());
                answered.paths().forEach(PathOffers::drop);
                failed.addAll(over);
                suspicion.restore(ofPrevious);
                resume = resume.broken().fenced(resume.begun(), resume.confirmed());
                return false;
            }
            answered.paths().forEach(this::lookAfter);
            session.watch();
        }
        previousPaths.forEach(PathChannel::close);
        long paused = System.nanoTime() - start;
        long repeated = resume.begun() - resume.received();
        if (returns && repeated == 0) {
            journal.logReturn(previousPaths, answered.paths(), paused);
        } else {
            journal.logMove(previousPaths, answered.paths(), why, paused, repeated, session.repeatedBytes());
        }
        back.noteMove(over);
        tasks.aMomentLater().execute(this::repeat);
        return true;
    }

    /**
     * The others are in use from now on, before the data path comes in and finds fault with them. With that the state
     * changes: the peer lets go of the previous ones, and while they seemed in use that would be the peer's end.
     */
    private synchronized PathSuspicion.Before confirm(List<PathChannel> next) {
        resume = resume.confirmed(resume.attempt());
        return suspicion.moveTo(next);
    }

    // ---- the way back

    /** Goes back to its first links, if they are well again. May block. */
    void lookHome() {
        back.find().filter(_ -> tryBegin()).ifPresent(better -> orGiveUp(() -> returnTo(better)));
    }

    private synchronized boolean tryBegin() {
        boolean begins = !working && !givenUp && !endIfLost();
        working |= begins;
        return begins;
    }

    private void returnTo(List<Path> better) {
        long start = System.nanoTime();
        Resumption.Counts counts = back.stopBetweenMessages(start, () -> !suspicion.isKnown());
        boolean goesOn = counts == null;
        if (counts != null) {
            resume = resume.broken().fenced(counts.begun(), counts.confirmed()).challenged();
            goesOn = moveTo(better, new HashSet<>(), Failback.WHY, start, true);
        }
        if (!goesOn) {
            back.noteFailure(better);
        }
        if (!goesOn || !finishIfWell()) {
            beginToLook();
        }
    }

    private void repeat() {
        synchronized (use) {
            if (!endIfLost() && session.repeat()) {
                tasks.aMomentLater().execute(this::repeat);
            }
        }
    }

    /** The peer's end says that it is lost: its lifeline may say why, within a moment. */
    private void refusedBy(PathChannel previous, String why) {
        end.sleep(LAST_WORDS);
        if (!endIfLost()) {
            giveUp(() -> FailoverEnd.byRefusal(previous, why));
        }
    }

    private boolean giveUpLost(PathChannel previous) {
        giveUp(() -> FailoverEnd.byFailure(
                previous, suspicion.words() + "; and " + resume.lost().words()));
        return false;
    }

    private void giveUp(Runnable loss) {
        synchronized (this) {
            if (end.isReached()) {
                return;
            }
            givenUp = true;
            end.reach();
        }
        loss.run();
    }

    @Override
    public void close() {
        end.reach();
        synchronized (use) {
            back.close();
        }
    }
}
