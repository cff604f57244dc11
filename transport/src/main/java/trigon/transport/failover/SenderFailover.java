package trigon.transport.failover;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.EndFailure;
import trigon.handshake.HandshakeException;
import trigon.handshake.LifelineEnd;
import trigon.net.NcclResult;
import trigon.routing.Path;
import trigon.transport.connect.Counterpart;
import trigon.transport.failover.NewPaths.Answered;
import trigon.transport.failover.NewPaths.Found;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathKeeper;
import trigon.transport.path.PathLoss;
import trigon.transport.resume.LostReason;
import trigon.transport.resume.SenderResume;
import trigon.transport.resume.SenderResume.State;
import trigon.transport.session.Failover;
import trigon.transport.session.Resumption;
import trigon.verbs.VerbsException;

/**
 * Leads a sender's session to another path when its own fails: it asks over all paths whether the peer lives; once it
 * has an answer, it fences its path, offers a new one, and sends again what the receiver does not have.
 *
 * <p>One control thread works while there is something to do. What it does to the session it does with the lock held,
 * and not once the session is closed.
 */
final class SenderFailover implements Failover {

    private static final Logger log = LoggerFactory.getLogger(SenderFailover.class);

    /** A peer that is gone says so for that long: before, its process may be about to begin here. */
    private static final Duration GONE = Duration.ofSeconds(1);

    private static final Duration HEARING = Duration.ofMillis(50);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

    private final Resumption session;
    private final Counterpart peer;
    private final NewPaths paths;
    private final Executor control;
    private final Executor aMomentLater;
    private final Duration peerTimeout;
    private final CompletableFuture<Void> stop = new CompletableFuture<>();

    private SenderResume resume = SenderResume.up();
    private boolean working;

    /** Why the path in use is of no use any more; null: it may be. */
    private volatile @Nullable String broken;

    /** The lifeline has ended: the peer's end, or the path's. */
    private @Nullable String doubtful;

    /** Nothing was heard for a while, or the link is down. */
    private boolean quiet;

    private boolean givenUp;

    /**
     * Of a session that is up.
     *
     * @param control runs what may block
     * @param aMomentLater the same, a moment later
     * @param peerTimeout so long it tries
     */
    SenderFailover(
            Resumption session,
            Counterpart peer,
            NewPaths paths,
            Executor control,
            Executor aMomentLater,
            Duration peerTimeout) {
        this.session = session;
        this.peer = peer;
        this.paths = paths;
        this.control = control;
        this.aMomentLater = aMomentLater;
        this.peerTimeout = peerTimeout;
    }

    /** Looks after a path that is in use from now on. */
    void lookAfter(PathChannel path) {
        path.keptBy(new PathKeeper() {
            @Override
            public boolean takes(PathLoss loss) {
                return SenderFailover.this.takes(path, loss);
            }

            @Override
            public void doubts() {
                suspect(path);
            }
        });
    }

    private synchronized boolean takes(PathChannel path, PathLoss loss) {
        boolean ours = !givenUp && !stop.isDone();
        if (ours && !path.equals(session.path())) {
            return true; // nobody uses it any more
        }
        if (!ours) {
            return false;
        }
        switch (loss) {
            case PathLoss.Here here -> broken = here.words();
            case PathLoss.OfPeer(var _, LifelineEnd.Broken _) -> doubtful = loss.words();
            case PathLoss.OfPeer(var _, LifelineEnd.Failed(EndFailure failure))
            when failure.scope() == EndFailure.Scope.PATH -> broken = loss.words();
            case PathLoss.OfPeer(var _, LifelineEnd.Released _)
            when resume.state() != State.UP && resume.state() != State.SUSPECT -> {
                // the receiver has left the path, and may have gone on by another one
            }
            case PathLoss.OfPeer _ -> {
                stop.complete(null);
                return false;
            }
        }
        work();
        return true;
    }

    private synchronized void suspect(PathChannel path) {
        if (path.equals(session.path()) && !working) {
            quiet = true;
            work();
        }
    }

    /** Without the lock: who has it may wait for the data path to be outside. */
    @Override
    public boolean broken(String what) {
        broken = what;
        control.execute(this::work);
        return !stop.isDone();
    }

    private synchronized void work() {
        if (!working && !givenUp && !stop.isDone()) {
            working = true;
            control.execute(this::run);
        }
    }

    private void run() {
        try {
            lookForAPath();
        } catch (RuntimeException | Error e) {
            log.warn("{}: what should lead it to another path has failed", session.path(), e);
            giveUp(() -> session.path()
                    .giveUp(NcclResult.SYSTEM_ERROR, new EndFailure(EndFailure.Scope.CONNECTION, e.toString())));
        }
    }

    private void lookForAPath() {
        long start = System.nanoTime();
        long goneSince = 0;
        Duration pause = FIRST_PAUSE;
        Set<Path> failed = new HashSet<>();
        boolean warned = false;
        while (true) {
            PathChannel former = session.path();
            Found found = paths.find(peer, peer.connection(), former.link().local(), failed, stop);
            failed.clear();
            long waited = System.nanoTime() - start;
            if (found.alive().isPresent()) {
                goneSince = 0;
                if (isUncertain()) {
                    sleep(HEARING); // a peer that was stopped answers over the path in use, too
                }
                if (isHeardAgain()) {
                    return;
                }
                if (moves(found.alive().get(), former, waited)) {
                    if (isDone()) {
                        return;
                    }
                    start = System.nanoTime();
                    continue;
                }
                failed.add(found.alive().get());
            }
            if (isEnded() || isHeardAgain()) {
                return;
            }
            if (!found.isGone()) {
                goneSince = 0;
            } else if (goneSince == 0) {
                goneSince = System.nanoTime();
            } else if (System.nanoTime() - goneSince > GONE.toNanos()) {
                giveUp(() -> former.peerIsGone(new LifelineEnd.Broken("nobody knows the connection there any more")));
                return;
            }
            if (isOver(waited)) {
                giveUp(() -> former.giveUp(
                        NcclResult.REMOTE_ERROR,
                        new EndFailure(
                                EndFailure.Scope.CONNECTION,
                                "%s; and %s. Check the cables, and the links with ip -s link on either node"
                                        .formatted(why(), LostReason.EXPIRED.words()))));
                return;
            }
            if (!warned && goneSince == 0 && waited > GONE.toNanos()) {
                warned = true;
                log.warn(
                        "{}: {}. No path leads to {} now; the connection waits for one until"
                                + " handshake.peerTimeout is over",
                        former,
                        why(),
                        peer.name());
            }
            sleep(pause);
            pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
        }
    }

    private synchronized String why() {
        String known = broken != null ? broken : doubtful;
        return known != null
                ? known
                : session.path().link().isUp()
                        ? "nothing was heard from the peer for more than a second"
                        : "the link is down";
    }

    /** Whether the path in use was only quiet, and is not any more: then nothing more is done. */
    private synchronized boolean isHeardAgain() {
        PathChannel path = session.path();
        boolean onlyQuiet = broken == null && doubtful == null && resume.state() == State.UP;
        if (onlyQuiet && path.link().isUp() && !path.isQuiet()) {
            quiet = false;
            working = false;
        }
        return !working;
    }

    private synchronized boolean isUncertain() {
        return broken == null && doubtful == null;
    }

    /** Whether it is for this to say that the time is over, and not for the lifeline. */
    private synchronized boolean isOver(long waited) {
        return waited > peerTimeout.toNanos() && (broken != null || doubtful != null || resume.state() != State.UP);
    }

    /** Whether all is well with the path in use; then nothing more is done. */
    private synchronized boolean isDone() {
        working = broken != null || doubtful != null || quiet;
        return !working;
    }

    /** Whether it is of no use to look for a path any more. */
    private synchronized boolean isEnded() {
        if (session.isLost()) {
            stop.complete(null);
        }
        return stop.isDone();
    }

    /** Goes on over that path; false if that has failed. */
    private boolean moves(Path over, PathChannel former, long waited) {
        String why = why();
        synchronized (this) {
            if (isEnded()) {
                return false;
            }
            if (resume.state() == State.UP) {
                log.warn("{}: {}. The connection goes on over another path", former, why);
                resume = resume.broken();
                Resumption.Counts counts = session.fence(why);
                if (counts == null) {
                    stop.complete(null);
                    return false;
                }
                resume = resume.fenced(counts.begun(), counts.confirmed());
            }
            resume = resume.challenged();
        }
        if (resume.state() == State.LOST) {
            return loses(former);
        }
        Answered answered;
        try {
            answered = paths.offer(
                    peer,
                    over,
                    new trigon.handshake.Resumption(resume.attempt(), resume.begun(), resume.confirmed()),
                    stop);
        } catch (HandshakeException | VerbsException e) {
            log.debug("{}: no new path over {}", former, over, e);
            synchronized (this) {
                resume = resume.failed(resume.attempt());
            }
            if (e instanceof HandshakeException refused && refused.kind() == HandshakeException.Kind.REJECTED) {
                refusedBy(former, refused);
            }
            return false;
        }
        synchronized (this) {
            resume = resume.answered(resume.attempt(), answered.received());
            if (resume.state() == State.LOST || isEnded()) {
                answered.path().close();
                return resume.state() == State.LOST && loses(former);
            }
            resume = resume.confirmed(resume.attempt());
            try {
                if (!session.moveTo(answered.path(), answered.received())) {
                    stop.complete(null);
                    answered.path().close();
                    return false;
                }
            } catch (VerbsException e) {
                log.warn("{}: it cannot go on over {}: {}", former, over, e.getMessage());
                answered.path().close();
                resume = resume.broken().fenced(resume.begun(), resume.confirmed());
                return false;
            }
            broken = null;
            doubtful = null;
            quiet = false;
            lookAfter(answered.path());
            session.watch();
        }
        former.close();
        log.info(
                "the connection to {} goes on over {} instead of {} after {} ms: {}; {} messages were sent again",
                peer.name(),
                over,
                former.link(),
                TimeUnit.NANOSECONDS.toMillis(waited),
                why,
                resume.begun() - resume.received());
        aMomentLater.execute(this::repeat);
        return true;
    }

    private synchronized void repeat() {
        if (!isEnded() && session.repeat()) {
            aMomentLater.execute(this::repeat);
        }
    }

    /** The peer's end says that it is lost: its lifeline may say why, within a moment. */
    private void refusedBy(PathChannel former, HandshakeException refused) {
        for (int i = 0; i < 75 && !isEnded(); i++) {
            sleep(FIRST_PAUSE);
        }
        if (!isEnded()) {
            giveUp(() -> former.peerIsGone(new LifelineEnd.Failed(
                    new EndFailure(EndFailure.Scope.CONNECTION, String.valueOf(refused.getMessage())))));
        }
    }

    private boolean loses(PathChannel former) {
        giveUp(() -> former.giveUp(
                NcclResult.SYSTEM_ERROR,
                new EndFailure(
                        EndFailure.Scope.CONNECTION,
                        why() + "; and " + resume.lost().words())));
        return false;
    }

    private void giveUp(Runnable loss) {
        synchronized (this) {
            if (stop.isDone()) {
                return;
            }
            givenUp = true;
            stop.complete(null);
        }
        loss.run();
    }

    private void sleep(Duration time) {
        try {
            var _ = stop.get(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | ExecutionException _) {
            // time is over
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while looking for a path", e);
        }
    }

    @Override
    public synchronized void close() {
        stop.complete(null);
    }
}
