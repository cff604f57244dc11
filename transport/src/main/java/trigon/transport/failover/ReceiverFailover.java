package trigon.transport.failover;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.ConnectionLostException;
import trigon.handshake.EndFailure;
import trigon.handshake.Established;
import trigon.handshake.HandshakeListeners;
import trigon.handshake.HandshakeMessage.Answer;
import trigon.handshake.HandshakeMessage.Offer;
import trigon.handshake.IncomingOffer;
import trigon.handshake.LifelineEnd;
import trigon.handshake.OfferHandler;
import trigon.handshake.RemoteMemory;
import trigon.routing.LocalLink;
import trigon.transport.connect.Counterpart;
import trigon.transport.connect.PathFactory;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathKeeper;
import trigon.transport.path.PathLoss;
import trigon.transport.resume.ReceiverResume;
import trigon.transport.resume.ReceiverResume.State;
import trigon.transport.resume.Step;
import trigon.transport.session.Failover;
import trigon.transport.session.Resumption;
import trigon.verbs.VerbsException;

/**
 * Follows a sender to another path: answers its offers. When this end's path fails it says so, as far as it is heard,
 * and asks meanwhile whether the sender is still there.
 *
 * <p>Offers come on the handshake's event loop and are answered on control threads. What is done to the session is done
 * with the lock held, and not once the session is closed.
 */
final class ReceiverFailover implements Failover, OfferHandler {

    private static final Logger log = LoggerFactory.getLogger(ReceiverFailover.class);

    private static final Duration PAUSE = Duration.ofMillis(200);

    private final Resumption session;
    private final Counterpart peer;
    private final HandshakeListeners listeners;
    private final PathFactory factory;
    private final NewPaths paths;
    private final PathOffers offers;
    private final Journal journal;
    private final Executor control;
    private final Duration peerTimeout;
    private final FailoverEnd end = new FailoverEnd();
    private final ProvenEnds proven = new ProvenEnds();

    private ReceiverResume resume = ReceiverResume.up();
    private boolean working;
    private final Trouble trouble = new Trouble();
    private boolean givenUp;

    /** What the latest attempt's offers were answered with, by queue pair; none: they are in use, or have failed. */
    private final SortedMap<Integer, PathChannel> answered = new TreeMap<>();

    /** So many of them are up at both ends. */
    private int ready;

    /** The links it began with. */
    private final List<LocalLink> home;

    /** The sender leads to another path though nothing is wrong with this one: back to that link, it seems. */
    private boolean returning;

    /** Since when the path in use has been of no use. */
    private long since;

    /**
     * Of a session that is up.
     *
     * @param journal says what becomes of it
     * @param control runs what may block
     * @param peerTimeout so long it waits
     */
    ReceiverFailover(
            Resumption session,
            Counterpart peer,
            HandshakeListeners listeners,
            PathFactory factory,
            NewPaths paths,
            PathOffers offers,
            Journal journal,
            Executor control,
            Duration peerTimeout) {
        this.session = session;
        this.peer = peer;
        this.listeners = listeners;
        this.factory = factory;
        this.paths = paths;
        this.offers = offers;
        this.journal = journal;
        home = links(session.paths());
        this.control = control;
        this.peerTimeout = peerTimeout;
    }

    /** Takes the sender's offers from now on. */
    void listen() {
        listeners.resume(peer.connection(), peer.secret(), this);
    }

    /** Looks after a path that is in use from now on. */
    void lookAfter(PathChannel path) {
        proven.add(path);
        path.keptBy(new PathKeeper() {
            @Override
            public boolean takes(PathLoss loss) {
                return ReceiverFailover.this.takes(path, loss);
            }

            @Override
            public void doubts() {
                // the sender leads, and hears as little
            }
        });
    }

    private synchronized boolean takes(PathChannel path, PathLoss loss) {
        boolean ours = !givenUp && !end.isReached() && !session.isLost();
        if (ours && !session.paths().contains(path)) {
            return true; // nobody uses it any more
        }
        if (!ours) {
            return false;
        }
        switch (loss) {
            case PathLoss.Here here when here.ofCommunicator().isEmpty() -> trouble.breaks(here.words());
            case PathLoss.OfPeer(var _, LifelineEnd.Broken _) -> trouble.doubts(loss.words());
            case PathLoss.OfPeer(var _, LifelineEnd.Failed(EndFailure failure))
            when failure.scope() == EndFailure.Scope.PATH -> trouble.breaks(loss.words());
            case PathLoss.OfPeer(var _, LifelineEnd.Released _) when resume.state() != State.UP -> {
                // the sender has left the path, since it has another one
            }
            case PathLoss _ -> {
                end.reach();
                return false;
            }
        }
        work();
        return true;
    }

    /** Without the lock: who has it may wait for the data path to be outside. */
    @Override
    public boolean broken(String what) {
        trouble.breaks(what);
        control.execute(this::work);
        return !end.isReached();
    }

    private synchronized void work() {
        if (since == 0) {
            since = System.nanoTime();
        }
        String broken = trouble.broken();
        if (broken != null && resume.state() == State.UP && !end.isReached()) {
            notifySender(broken);
        }
        if (!working && !givenUp && !end.isReached()) {
            working = true;
            control.execute(() -> orGiveUp(this::waitForTheSender));
        }
    }

    /** Fences the path, and says so: the sender is to lead to another one. */
    private void notifySender(String why) {
        journal.lost(session.paths(), why);
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

    private void orGiveUp(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            log.warn("{}: what should lead it to another path has failed", session.path(), e);
            giveUp(session.path(), () -> FailoverEnd.byFailure(session.path(), e.toString()));
        }
    }

    private void waitForTheSender() {
        Absence absence = new Absence();
        while (!isWell()) {
            PathChannel former = session.path();
            Found found =
                    paths.find(peer, peer.connection().ofConnectingSide(), session, Set.of(), proven, end.reached());
            if (absence.lasts(found, System.nanoTime())) {
                giveUp(former, () -> FailoverEnd.byAbsence(former));
                return;
            }
            if (isOver()) {
                giveUp(former, () -> FailoverEnd.byTime(former, why()));
                return;
            }
            end.sleep(absence.until(PAUSE, System.nanoTime()));
        }
    }

    private synchronized boolean isOver() {
        return since != 0 && System.nanoTime() - since > peerTimeout.toNanos();
    }

    /** Whether there is nothing to wait for any more. */
    private synchronized boolean isWell() {
        if (session.isLost()) {
            end.reach();
        }
        boolean well = resume.state() == State.UP && !trouble.isKnown();
        since = well ? 0 : since; // a later failure has a time of its own
        working = !well && !end.isReached();
        return !working;
    }

    private synchronized String why() {
        return trouble.words("the sender has offered another path");
    }

    // ---- offers

    @Override
    public CompletionStage<Answer> onOffer(IncomingOffer incoming) {
        return CompletableFuture.supplyAsync(() -> answer(incoming), control);
    }

    private synchronized Answer answer(IncomingOffer incoming) {
        if (session.isLost() || end.isReached()) {
            PathLoss loss = session.path().loss();
            throw new ConnectionLostException(loss == null ? "the connection is closed here" : loss.words());
        }
        Offer offer = incoming.offer();
        trigon.handshake.Resumption asked = offer.resumption().orElseThrow();
        if (asked.attempt() == resume.attempt() && resume.state() == State.ANSWERED) {
            return answer(incoming, asked.attempt()); // another one of its queue pairs
        }
        resume = resume.offered(asked.attempt(), asked.begun(), asked.confirmed());
        if (resume.step() == Step.REFUSE) {
            throw new IllegalArgumentException(
                    "attempt %d is not newer than attempt %d".formatted(asked.attempt(), resume.attempt()));
        }
        if (resume.step() == Step.FENCE) {
            since = since == 0 ? System.nanoTime() : since;
            returning = !trouble.isThere() && !links(session.paths()).equals(home);
            if (!returning) {
                journal.lost(session.paths(), why());
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
            control.execute(() -> giveUp(path, () -> FailoverEnd.byFailure(path, why)));
            throw new ConnectionLostException(why);
        }
        dropAnswered();
        return answer(incoming, asked.attempt());
    }

    /** With the lock: by a new queue pair, which waits for the others of the attempt. */
    private Answer answer(IncomingOffer incoming, int attempt) {
        int index = incoming.offer().stripe().index();
        if (incoming.offer().stripe().offered() != session.paths().size()) {
            throw new IllegalArgumentException("the connection has %d queue pairs"
                    .formatted(session.paths().size()));
        }
        PathChannel path = offers.accept(peer, session.protocol(), incoming);
        PathChannel doubled = answered.put(index, path);
        if (doubled != null) {
            doubled.close();
        }
        var _ = incoming.result()
                .whenCompleteAsync((up, _) -> orGiveUp(() -> finish(path, attempt, incoming, up)), control);
        work();
        return new Answer(
                incoming.offer().kind(),
                path.endpoint(),
                RemoteMemory.NONE,
                path.maxMessageBytes(),
                Math.max(1, path.link().local().speedMbps()),
                resume.received());
    }

    private void dropAnswered() {
        answered.values().forEach(end.isReached() ? PathChannel::close : PathOffers::drop);
        answered.clear();
        ready = 0;
    }

    /** The handshake is over; without {@code established} it failed. All of an attempt have to succeed. */
    private void finish(PathChannel path, int attempt, IncomingOffer incoming, @Nullable Established established) {
        List<PathChannel> formers;
        List<PathChannel> next;
        String why;
        long paused;
        boolean orderly;
        synchronized (this) {
            if (!answered.containsValue(path)) {
                return; // closed by who took its place
            }
            if (established == null || end.isReached()) {
                dropAnswered();
                return;
            }
            factory.watch(path, established, incoming.offer().node().name());
            ready++;
            if (ready < session.paths().size()) {
                return;
            }
            next = List.copyOf(answered.values());
            answered.clear();
            ready = 0;
            formers = session.paths();
            why = why();
            resume = resume.ready(attempt);
            if (resume.step() != Step.GO_ON || !moves(next)) {
                next.forEach(PathChannel::close);
                return;
            }
            paused = System.nanoTime() - since;
            since = 0;
            orderly = returning && links(next).equals(home);
            returning = false;
            next.forEach(this::lookAfter);
            session.watch();
        }
        formers.forEach(PathChannel::close);
        if (orderly) {
            journal.returned(formers, next, paused);
        } else {
            journal.movedAfterLoss(formers, next, why, paused, 0, 0);
        }
    }

    private static List<LocalLink> links(List<PathChannel> paths) {
        return paths.stream().map(path -> path.link().local()).toList();
    }

    private boolean moves(List<PathChannel> next) {
        Trouble former = trouble.isOver(); // before the data path comes in, and finds fault with the next one
        try {
            boolean moved = session.moveTo(next, resume.received());
            if (!moved) {
                trouble.isAgain(former);
            }
            return moved;
        } catch (VerbsException e) {
            trouble.isAgain(former);
            next.forEach(PathOffers::drop);
            log.warn("{}: it cannot go on over {}: {}", session.path(), next, e.getMessage());
            resume = resume.broken().fenced(resume.received());
            work();
            return false;
        }
    }

    private void giveUp(PathChannel former, Runnable loss) {
        synchronized (this) {
            if (end.isReached() || !former.equals(session.path())) {
                return;
            }
            givenUp = true;
            end.reach();
        }
        loss.run();
    }

    @Override
    public void close() {
        listeners.unregister(peer.connection(), this);
        synchronized (this) {
            end.reach();
            dropAnswered();
        }
    }
}
