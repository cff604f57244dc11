package trigon.transport.failover;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.ConnectionLostException;
import trigon.handshake.Established;
import trigon.handshake.IncomingOffer;
import trigon.handshake.OfferHandler;
import trigon.handshake.listen.HandshakeListeners;
import trigon.handshake.message.EndFailure;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.handshake.message.ResumeCounts;
import trigon.transport.connect.Counterpart;
import trigon.transport.failover.search.Absence;
import trigon.transport.failover.search.Found;
import trigon.transport.path.DataPathProbe;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathLoss;
import trigon.transport.protocol.MessageProtocol;
import trigon.transport.resume.ReceiverResume;
import trigon.transport.resume.ReceiverResume.State;
import trigon.transport.resume.Step;
import trigon.transport.session.Failover;
import trigon.transport.session.Resumption;
import trigon.verbs.VerbsException;

/**
 * Follows a sender to another path: answers its offers. When this end's path fails, or nothing comes over it, it says
 * so, as far as it is heard, and asks meanwhile whether the sender is still there.
 *
 * <p>Offers come on the handshake's event loop and are answered on control threads. What is done to the session takes
 * long, and is done with {@link #use} held, and not once the session is closed. The failover's own lock, which is taken
 * after that one, is held briefly: an event loop waits for it.
 */
final class ReceiverFailover implements Failover, OfferHandler {

    private static final Logger log = LoggerFactory.getLogger(ReceiverFailover.class);

    private static final Duration PAUSE = Duration.ofMillis(200);

    private final Resumption session;
    private final Counterpart peer;
    private final HandshakeListeners listeners;
    private final PathOffers offers;
    private final Journal journal;
    private final Duration peerTimeout;
    private final FailoverTasks tasks;
    private final FailoverSteps steps;
    private final FailoverEnd end = new FailoverEnd();

    /** Held by who does something to the session. */
    private final Object use = new Object();

    // changed with that held
    private volatile ReceiverResume resume = ReceiverResume.up();
    private final AnsweredOffers<PathChannel> answered = new AnsweredOffers<>();
    private final PeerFailback back;

    private final PathSuspicion suspicion;
    private final UnheardSender sender;
    private boolean working;

    private final Outage outage = new Outage();

    /**
     * Makes one of a session that is up.
     *
     * @param listeners have the sender's offers
     * @param journal says what becomes of it
     */
    ReceiverFailover(
            Resumption session,
            Counterpart peer,
            HandshakeListeners listeners,
            Journal journal,
            FailoverServices services) {
        this.session = session;
        this.peer = peer;
        this.listeners = listeners;
        offers = services.offers();
        this.journal = journal;
        suspicion = new PathSuspicion(session.paths());
        back = new PeerFailback(peer, session.paths());
        tasks = services.tasks();
        steps = new FailoverSteps(tasks, session, loss -> giveUp(session.path(), loss), this::cannotWork);
        sender = new UnheardSender(peer, session, services, suspicion, end, this::breakPath);
        peerTimeout = services.peerTimeout();
    }

    /** Takes the sender's offers from now on. */
    void listen() {
        listeners.resume(peer.connection(), peer.secret(), this);
    }

    /** Looks after a path that is in use from now on. */
    void lookAfter(PathChannel path) {
        sender.lookAfter(path, loss -> takeOver(path, loss));
    }

    private synchronized boolean takeOver(PathChannel path, PathLoss loss) {
        boolean ours = !end.isReached() && !session.isLost();
        if (ours && !suspicion.isOf(path)) {
            return true; // nobody uses it any more
        }
        if (!ours) {
            return false;
        }
        if (!suspicion.note(path, loss, resume.state() != State.UP)) {
            end.reach();
            return false;
        }
        work();
        return true;
    }

    @Override
    public boolean recoverFrom(PathChannel path, String what) {
        suspicion.markBroken(path, what);
        return tasks.fromDataPath(this::work) && !end.isReached();
    }

    private void breakPath(PathChannel path, String why) {
        suspicion.markBroken(path, why);
        work();
    }

    private synchronized void work() {
        if (end.isReached()) {
            return;
        }
        outage.begin();
        if (suspicion.broken() != null && resume.state() == State.UP) {
            steps.begin(this::notifySender);
        }
        if (!working) {
            working = true;
            steps.begin(() -> waitForTheSender(new Absence()));
        }
    }

    private void cannotWork(Throwable why) {
        PathChannel path = session.path();
        giveUp(path, () -> FailoverEnd.byLackOfThread(path, why() + "; and " + why));
    }

    /** Fences the path, and says so: the sender is to lead to another one. */
    private void notifySender() {
        synchronized (use) {
            String why = suspicion.broken();
            if (why == null || resume.state() != State.UP || end.isReached()) {
                return;
            }
            journal.logLoss(session.paths(), suspicion.failed(), why);
            resume = resume.broken();
            Resumption.Counts counts = session.fence(why);
            if (counts == null) {
                end.reach();
                return;
            }
            resume = resume.fenced(counts.confirmed());
            EndFailure failure = new EndFailure(EndFailure.Scope.PATH, why);
            session.paths().forEach(path -> path.failed(failure));
        }
    }

    /** One look whether the sender lives, in which no thread waits for its answer; the sender does the rest. */
    private void waitForTheSender(Absence absence) {
        if (stopIfWell()) {
            return;
        }
        PathChannel previous = session.path();
        steps.beginWith(sender.ask(), found -> judge(absence, previous, found));
    }

    private void judge(Absence absence, PathChannel previous, Found found) {
        if (absence.observe(found, System.nanoTime())) {
            giveUp(previous, () -> FailoverEnd.byAbsence(previous));
        } else if (found.isLost()) {
            giveUp(previous, () -> FailoverEnd.byTime(previous, suspicion, peerTimeout, why()));
        } else {
            steps.beginLater(absence.until(PAUSE, System.nanoTime()), () -> waitForTheSender(absence));
        }
    }

    private synchronized boolean stopIfWell() {
        if (session.isLost()) {
            end.reach();
        }
        boolean well = resume.state() == State.UP && !suspicion.isKnown();
        if (well) {
            outage.end();
        }
        working = !well && !end.isReached();
        return !working;
    }

    private String why() {
        return suspicion.words("the sender has offered another path");
    }

    // ---- offers

    @Override
    public CompletionStage<Answer> onOffer(IncomingOffer incoming) {
        return CompletableFuture.supplyAsync(() -> answer(incoming), tasks.moving());
    }

    private Answer answer(IncomingOffer incoming) {
        synchronized (use) {
            return answerInside(incoming);
        }
    }

    private Answer answerInside(IncomingOffer incoming) {
        if (session.isLost() || end.isReached()) {
            PathLoss loss = session.path().loss();
            throw new ConnectionLostException(loss == null ? "the connection is closed here" : loss.words());
        }
        Offer offer = incoming.offer();
        ResumeCounts asked = offer.resumeCounts().orElseThrow();
        if (asked.attempt() == resume.attempt() && resume.state() == State.ANSWERED) {
            return answer(incoming, asked.attempt()); // another one of its queue pairs
        }
        resume = resume.offered(asked.attempt(), asked.begun(), asked.confirmed());
        if (resume.step() == Step.REFUSE) {
            throw new IllegalArgumentException(
                    "attempt %d is not newer than attempt %d".formatted(asked.attempt(), resume.attempt()));
        }
        if (resume.step() == Step.FENCE) {
            outage.begin();
            if (!back.noteBegin(suspicion, session.paths())) {
                journal.logLoss(session.paths(), suspicion.failed(), why());
            }
            Resumption.Counts counts = session.fence(why());
            if (counts == null) {
                end.reach();
                throw new ConnectionLostException("this end of the connection has failed before");
            }
            resume = resume.fenced(counts.confirmed());
        }
        if (resume.state() == State.LOST) {
            String why = resume.lost().words();
            PathChannel path = session.path();
            giveUp(path, () -> FailoverEnd.byFailure(path, why));
            throw new ConnectionLostException(why);
        }
        dropAnswered();
        return answer(incoming, asked.attempt());
    }

    /** With the session held: by a new queue pair, which waits for the others of the attempt. */
    private Answer answer(IncomingOffer incoming, int attempt) {
        int index = incoming.offer().stripe().index();
        int queuePairs = session.queuePairs(session.offered(incoming.offer()));
        if (incoming.offer().stripe().offered() != queuePairs) {
            throw new IllegalArgumentException("the connection has %d queue pairs there".formatted(queuePairs));
        }
        PathChannel path = offers.accept(peer, session, incoming);
        PathChannel doubled = answered.put(index, path);
        if (doubled != null) {
            doubled.close();
        }
        var _ = incoming.result()
                .whenCompleteAsync(
                        (up, why) -> steps.run(() -> finish(path, attempt, incoming, up, why)), tasks.moving());
        work();
        return new Answer(
                offers.self().name(),
                incoming.offer().kind(),
                path.endpoint(),
                DataPathProbe.target(path.link()),
                path.maxMessageBytes(),
                path.link().local().assumedMbps(),
                true,
                resume.received());
    }

    private void dropAnswered() {
        answered.takeAll().forEach(end.isReached() ? PathChannel::close : PathOffers::drop);
    }

    /** The handshake is over; without {@code established} it failed. All of an attempt have to succeed. */
    private void finish(
            PathChannel path,
            int attempt,
            IncomingOffer incoming,
            @Nullable Established established,
            @Nullable Throwable why) {
        synchronized (use) {
            if (established != null && answered.has(path) && !end.isReached()) {
                offers.watch(path, established, incoming.offer().node().name());
                MessageProtocol by = session.offered(incoming.offer());
                List<PathChannel> next = answered.ready(path, session.queuePairs(by));
                if (!next.isEmpty()) {
                    moveTo(next, by, attempt);
                }
                return;
            }
            if (answered.has(path)) {
                offerFailed(path, why);
            }
        }
        if (established != null) { // nobody has watched it
            if (!end.isReached()) {
                established.lifeline().fail(PathOffers.UNUSED);
            }
            established.lifeline().release();
        }
    }

    /** With the session held. One whose offer is made again is no loss for the others. */
    private void offerFailed(PathChannel path, @Nullable Throwable why) {
        if (why instanceof HandshakeException failure && failure.kind() == HandshakeException.Kind.ABANDONED) {
            answered.withdraw(path);
            PathOffers.drop(path);
        } else {
            dropAnswered();
        }
    }

    /** With the session held. */
    private void moveTo(List<PathChannel> next, MessageProtocol by, int attempt) {
        List<PathChannel> previousPaths = session.paths();
        String why = why();
        PathSuspicion.Before ofPrevious = markReady(next, attempt);
        if (ofPrevious == null || !tryMove(next, by, ofPrevious)) {
            next.forEach(PathChannel::close);
            return;
        }
        long paused = outage.end();
        next.forEach(this::lookAfter);
        session.watch();
        previousPaths.forEach(PathChannel::close);
        if (back.noteEnd(next)) {
            journal.logReturn(previousPaths, next, paused);
        } else {
            journal.logMove(previousPaths, next, why, paused, 0, 0);
        }
    }

    /**
     * The sender is ready, so these are in use from now on, before the data path comes in and finds fault with them.
     * With that the state changes: the sender lets go of the previous ones, and while they seemed in use that would be
     * its end. Null if nothing is due.
     */
    private synchronized PathSuspicion.@Nullable Before markReady(List<PathChannel> next, int attempt) {
        resume = resume.ready(attempt);
        return resume.step() == Step.GO_ON ? suspicion.moveTo(next) : null;
    }

    private boolean tryMove(List<PathChannel> next, MessageProtocol by, PathSuspicion.Before ofPrevious) {
        try {
            boolean moved = session.moveTo(next, by, resume.received());
            if (!moved) {
                suspicion.restore(ofPrevious);
            }
            return moved;
        } catch (VerbsException e) {
            suspicion.restore(ofPrevious);
            next.forEach(PathOffers::drop);
            log.warn("{}: cannot move to {}: {}", session.path(), next, e.getMessage());
            resume = resume.broken().fenced(resume.received());
            work();
            return false;
        }
    }

    private void giveUp(PathChannel previous, Runnable loss) {
        synchronized (this) {
            if (end.isReached() || !suspicion.isOf(previous)) {
                return;
            }
            end.reach();
        }
        loss.run();
    }

    @Override
    public void close() {
        listeners.unregister(peer.connection(), this);
        end.reach();
        synchronized (use) {
            dropAnswered();
        }
    }
}
