package trigon.transport.failover;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import trigon.handshake.ConnectionLostException;
import trigon.handshake.HandshakeClient;
import trigon.handshake.HandshakeListeners;
import trigon.handshake.LinkAddress;
import trigon.handshake.NodeIdentity;
import trigon.handshake.OfferHandler;
import trigon.system.NanoClock;
import trigon.system.kernel.ProcessBarrier;
import trigon.transport.connect.CandidatePaths;
import trigon.transport.connect.Counterpart;
import trigon.transport.connect.PathFactory;
import trigon.transport.path.Links;
import trigon.transport.session.Failover;
import trigon.transport.session.ReceiveSession;
import trigon.transport.session.Resumption;
import trigon.transport.session.SendSession;

/** Has sessions go on over other paths when their own fail. Thread-safe. */
public final class Failovers {

    /** Nobody offers a sender anything: it is only asked whether it lives. */
    private static final OfferHandler ONLY_ASKED =
            _ -> CompletableFuture.failedFuture(new ConnectionLostException("the connecting side takes no offers"));

    /** From one look at what is left to be sent again to the next. */
    public static final Duration MOMENT = Duration.ofMillis(2);

    /** From one look for a better path to the next. */
    public static final Duration WHILE = Duration.ofSeconds(1);

    private final boolean on;
    private final HandshakeListeners listeners;
    private final PathFactory factory;
    private final NewPaths paths;
    private final PathOffers offers;
    private final PathHealth health;
    private final Executor control;
    private final FailoverTasks tasks;
    private final Executor aMomentLater;
    private final Returns returns;
    private final Duration peerTimeout;

    /**
     * Of a plugin.
     *
     * @param on whether there is any
     * @param addresses where this process listens now, as peers are told
     * @param eventLoop runs what is brief
     * @param control runs what may block
     * @param aMomentLater the same, a {@link #MOMENT} later
     * @param aWhileLater the same, a {@link #WHILE} later
     * @param peerTimeout so long a path is looked for
     */
    public Failovers(
            boolean on,
            Links links,
            CandidatePaths candidates,
            HandshakeClient client,
            HandshakeListeners listeners,
            PathFactory factory,
            NodeIdentity self,
            Supplier<List<LinkAddress>> addresses,
            RandomGenerator attempts,
            Executor eventLoop,
            Executor control,
            Executor aMomentLater,
            Executor aWhileLater,
            Duration peerTimeout,
            NanoClock clock) {
        health = new PathHealth(clock);
        this.on = on;
        this.listeners = listeners;
        this.factory = factory;
        this.control = control;
        tasks = new FailoverTasks(eventLoop, control);
        this.aMomentLater = aMomentLater;
        returns = new Returns(aWhileLater);
        this.peerTimeout = peerTimeout;
        paths = new NewPaths(links, candidates, client);
        offers = new PathOffers(links, client, factory, self, addresses, attempts);
        if (on) {
            control.execute(ProcessBarrier::isAvailable); // what takes time at first is done then
        }
    }

    /** Whether there is any. */
    public boolean areOn() {
        return on;
    }

    /**
     * A connecting side's end is up, and NCCL has not taken it yet: whoever asks is told that it lives. Until there is
     * a session to {@linkplain #keep(SendSession, Counterpart) keep}, or it is {@linkplain #forget forgotten}.
     */
    public void expect(Counterpart peer) {
        if (on) {
            listeners.resume(peer.connection().ofConnectingSide(), peer.secret(), ONLY_ASKED);
        }
    }

    /** No session came of it. */
    public void forget(Counterpart peer) {
        if (on) {
            listeners.unregister(peer.connection().ofConnectingSide());
        }
    }

    /** For a session that has just been made; it is watched from now on. */
    public void keep(SendSession session, Counterpart peer) {
        if (on) {
            Resumption.of(session).ifPresent(resumption -> {
                SenderFailover failover = new SenderFailover(
                        resumption,
                        peer,
                        paths,
                        offers,
                        journal(resumption, peer, true),
                        returns,
                        tasks,
                        aMomentLater,
                        peerTimeout);
                expect(peer);
                session.keptGoingBy(new Failover() {
                    @Override
                    public boolean broken(String what) {
                        return failover.broken(what);
                    }

                    @Override
                    public void close() {
                        forget(peer);
                        failover.close();
                    }
                });
                resumption.paths().forEach(failover::lookAfter);
            });
        }
        session.watchPaths();
    }

    /** Likewise. */
    public void keep(ReceiveSession session, Counterpart peer) {
        if (on) {
            Resumption.of(session).ifPresent(resumption -> {
                ReceiverFailover failover = new ReceiverFailover(
                        resumption,
                        peer,
                        listeners,
                        factory,
                        paths,
                        offers,
                        journal(resumption, peer, false),
                        tasks,
                        control,
                        peerTimeout);
                session.keptGoingBy(failover);
                resumption.paths().forEach(failover::lookAfter);
                failover.listen();
            });
        }
        session.watchPaths();
    }

    private Journal journal(Resumption session, Counterpart peer, boolean sends) {
        return new Journal(health, session.path(), peer.name(), sends);
    }
}
