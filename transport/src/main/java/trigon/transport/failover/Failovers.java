package trigon.transport.failover;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.ConnectionLostException;
import trigon.handshake.OfferHandler;
import trigon.handshake.listen.HandshakeListeners;
import trigon.system.kernel.ProcessBarrier;
import trigon.transport.connect.CandidatePaths;
import trigon.transport.connect.ConnectedPaths;
import trigon.transport.connect.ControlTasks;
import trigon.transport.connect.ControlThreads;
import trigon.transport.connect.Counterpart;
import trigon.transport.connect.LocalSide;
import trigon.transport.path.PathChannel;
import trigon.transport.session.Failover;
import trigon.transport.session.ReceiveSession;
import trigon.transport.session.Resumption;
import trigon.transport.session.SendSession;

/** Has sessions go on over other paths when their own fail. Thread-safe. */
public final class Failovers {

    /** Nobody offers a sender anything: it is only asked whether it lives. */
    private static final OfferHandler ONLY_ASKED =
            _ -> CompletableFuture.failedFuture(new ConnectionLostException("the connecting side takes no offers"));

    /** From one look for a better path to the next. */
    public static final Duration WHILE = FailbackTimer.WHILE;

    private static final Logger log = LoggerFactory.getLogger(Failovers.class);

    private final boolean on;

    /** Peers of which the log has said that connections with them end with their paths. */
    private final Set<String> withoutFailover = ConcurrentHashMap.newKeySet();

    private final HandshakeListeners listeners;
    private final PathHealth health;
    private final FailoverServices services;

    /**
     * Makes one of a plugin; on if what peers are told of it says so.
     *
     * @param candidates where new paths are looked for
     */
    public Failovers(LocalSide side, CandidatePaths candidates, HandshakeListeners listeners, ControlTasks tasks) {
        ControlThreads threads = tasks.threads();
        on = side.self().failover();
        this.listeners = listeners;
        health = new PathHealth(tasks.clock());
        FailoverTasks does = new FailoverTasks(
                tasks.brief(Duration.ZERO), threads.moving(), threads::relieve, tasks::brief, tasks.clock());
        services = FailoverServices.of(side, candidates, tasks, does);
        if (on) {
            tasks.control().execute(ProcessBarrier::isAvailable); // what takes time at first is done then
        }
    }

    /**
     * A connecting side's end is up, and NCCL has not taken it yet: whoever asks is told that it lives. Until there is
     * a session to {@linkplain #keep(SendSession, Counterpart) keep}, or it is {@linkplain #forget forgotten}.
     */
    public void expect(ConnectedPaths paths) {
        if (paths.resumable()) {
            expect(paths.peer());
        }
    }

    private void expect(Counterpart peer) {
        listeners.resume(peer.connection().ofConnectingSide(), peer.secret(), ONLY_ASKED);
    }

    /** No session came of it. */
    public void forget(ConnectedPaths paths) {
        if (paths.resumable()) {
            forget(paths.peer());
        }
    }

    private void forget(Counterpart peer) {
        listeners.unregister(peer.connection().ofConnectingSide());
    }

    /** For a session that has just been made; it is watched from now on. */
    public void keep(SendSession session, Counterpart peer) {
        Resumption.of(session)
                .ifPresentOrElse(
                        resumption -> {
                            SenderFailover failover =
                                    new SenderFailover(resumption, peer, journal(resumption, peer, true), services);
                            expect(peer);
                            session.setFailover(new Failover() {
                                @Override
                                public boolean recoverFrom(PathChannel path, String what) {
                                    return failover.recoverFrom(path, what);
                                }

                                @Override
                                public void close() {
                                    forget(peer);
                                    failover.close();
                                }
                            });
                            resumption.paths().forEach(failover::lookAfter);
                        },
                        () -> endsWithItsPath(peer));
        session.watchPaths();
    }

    public void keep(ReceiveSession session, Counterpart peer) {
        Resumption.of(session)
                .ifPresentOrElse(
                        resumption -> {
                            ReceiverFailover failover = new ReceiverFailover(
                                    resumption, peer, listeners, journal(resumption, peer, false), services);
                            session.setFailover(failover);
                            resumption.paths().forEach(failover::lookAfter);
                            failover.listen();
                        },
                        () -> endsWithItsPath(peer));
        session.watchPaths();
    }

    private void endsWithItsPath(Counterpart peer) {
        if (on && withoutFailover.add(peer.name())) {
            log.info(
                    "failover is off on {}, so connections with it fail with their path: set TRIGON_FAILOVER to"
                            + " the same value on all nodes",
                    peer.name());
        }
    }

    private Journal journal(Resumption session, Counterpart peer, boolean sends) {
        return new Journal(health, session.path(), peer.name(), sends);
    }
}
