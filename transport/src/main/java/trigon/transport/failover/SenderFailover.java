package trigon.transport.failover;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import trigon.routing.Path;
import trigon.system.NanoClock;
import trigon.transport.connect.Counterpart;
import trigon.transport.failover.search.Found;
import trigon.transport.failover.search.PathPenalty;
import trigon.transport.failover.search.PathSearch;
import trigon.transport.failover.search.ProvenEnds;
import trigon.transport.failover.search.Search;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathKeeper;
import trigon.transport.path.PathLoss;
import trigon.transport.session.Failover;
import trigon.transport.session.Resumption;

/**
 * Leads a sender's session to another path when its own fails: it asks over all paths whether the peer lives; once it
 * has an answer, it fences its path, offers a new one, and sends again what the receiver does not have.
 *
 * <p>One step after the other is done on a control thread while there is something to do, and none waits for answers.
 * What is done to the session takes long, and is done with {@link #use} held, and not once the session is closed. The
 * failover's own lock, which is taken after that one, is held briefly: an event loop waits for it.
 */
final class SenderFailover implements Failover, FailbackTimer.Sender {

    private final Resumption session;
    private final Counterpart peer;
    private final PathSearch paths;
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

    private final PathSuspicion suspicion;
    private final SenderMoves moves;
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
        this.journal = journal;
        back = new Failback(this, session, peer, journal, services, end);
        tasks = services.tasks();
        steps = new FailoverSteps(tasks, session, this::giveUp, this::cannotLook);
        suspicion = new PathSuspicion(session.paths());
        peerTimeout = services.peerTimeout();
        clock = services.tasks().clock();
        moves = new SenderMoves(
                this, new SenderMoves.Moved(session, peer, journal, suspicion, end), services, back, steps);
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
        if (!suspicion.note(path, loss, !moves.isUp())) {
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
        search.observe(found);
        if (found.alive().isEmpty()) {
            lookAgain(search);
        } else if (suspicion.isCertain()) {
            moveOrLookAgain(search, found);
        } else { // a peer that was stopped answers over the path in use, too
            steps.beginLater(PathSuspicion.HEARING, () -> moveOrLookAgain(search, found));
        }
    }

    private String whyNoPath() {
        return suspicion.words() + paths.notTaken(peer, session);
    }

    private void moveOrLookAgain(Search search, Found found) {
        if (stopIfHeardAgain()) {
            return;
        }
        moves.tryMove(found.forQueuePairs(session.queuePairs()), search, move -> goOn(move, search));
    }

    private void goOn(Move move, Search search) {
        switch (move) {
            case MADE -> {
                if (!finishIfWell()) {
                    search.restart();
                    look(search);
                }
            }
            case FAILED -> {
                search.countFailedMove();
                lookAgain(search);
            }
            case REFUSED -> {}
        }
    }

    private void lookAgain(Search search) {
        if (endIfLost() || stopIfHeardAgain()) {
            return;
        }
        if (search.isGone()) {
            giveUp(() -> FailoverEnd.byAbsence(session.path()));
        } else if (search.isOver(peerTimeout) && (suspicion.isKnown() || !moves.isUp())) {
            giveUp(() -> FailoverEnd.byTime(session.path(), suspicion, peerTimeout, whyNoPath()));
        } else {
            steps.beginLater(search.nextPause(), () -> look(search));
        }
    }

    /** Tells whether the path in use was only quiet, and is not any more: then nothing more is done. */
    private synchronized boolean stopIfHeardAgain() {
        if (moves.isUp() && suspicion.clearIfHeard()) {
            working = false;
        }
        return !working;
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

    @Override
    public void failBack() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Search search = new Search(clock);
        back.find()
                .filter(_ -> tryBegin())
                .ifPresentOrElse(
                        better ->
                                steps.run(() -> moves.returnTo(better, search, move -> endReturn(move, search, done))),
                        () -> done.complete(null));
        CompletableFuture.anyOf(done, end.reached()).join();
    }

    private synchronized boolean tryBegin() {
        boolean begins = !working && !endIfLost();
        working |= begins;
        return begins;
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

    /** Ends it, once, and has a path told why. */
    void giveUp(Runnable loss) {
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
