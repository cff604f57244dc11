package trigon.transport.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import trigon.handshake.Established;
import trigon.handshake.IncomingOffer;
import trigon.handshake.Lifeline;
import trigon.handshake.OfferHandler;
import trigon.handshake.PeerUnreachableException;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.ConnectionSecret;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.handshake.message.Stripe;
import trigon.nccl.NoConnectionException;
import trigon.system.Errno;
import trigon.system.InterfaceAddress;
import trigon.transport.Unwinding;
import trigon.transport.path.DataPathProbe;
import trigon.transport.path.Link;
import trigon.transport.path.Links;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathRole;
import trigon.transport.protocol.MessageProtocol;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsException;

/**
 * Waits for one peer. Offers arrive on the handshake's event loop, the queue pair is made on a control thread, and
 * NCCL's thread only looks whether there is a connection.
 */
public final class Acceptor implements OfferHandler {

    /** Errors of a device while no route leads to the peer. */
    static final Set<Integer> AWAY = Set.of(Errno.ENETUNREACH, Errno.EHOSTUNREACH, Errno.ETIMEDOUT);

    private final ConnectionId connectionId = ConnectionId.random();
    private final ConnectionSecret secret = ConnectionSecret.random();
    private final long context;
    private final int trafficClass;
    private final Supplier<DecidingPolicy> policy;
    private final LocalSide side;
    private final Links links;
    private final PathFactory factory;
    private final Executor control;

    // of the attempt that the peer makes now, by the queue pair's index
    private final SortedMap<Integer, PathChannel> paths = new TreeMap<>();
    private long attempt;
    private @Nullable ConnectedPaths established;
    private final List<Lifeline> lifelines = new ArrayList<>();
    private boolean closed;
    private @Nullable String cancellation;
    private int unaskedLooks;

    /**
     * Waits in that context, for a peer with the secret in its listen handle that decides by the same policy.
     *
     * @param policy asked on a control thread, since it may wait until the policy is loaded
     */
    public Acceptor(long context, int trafficClass, Supplier<DecidingPolicy> policy, LocalSide side, Executor control) {
        this.context = context;
        this.trafficClass = trafficClass;
        this.policy = policy;
        this.side = side;
        links = side.links();
        factory = side.factory();
        this.control = control;
    }

    public ConnectionId connectionId() {
        return connectionId;
    }

    /** Returns what the peer has to know, from its copy of the handle. */
    public ConnectionSecret secret() {
        return secret;
    }

    /** The context it was opened in. */
    public long context() {
        return context;
    }

    @Override
    public CompletionStage<Answer> onOffer(IncomingOffer incoming) {
        List<PathChannel> former = begin(incoming.offer().stripe().attempt());
        if (!former.isEmpty()) {
            control.execute(() -> former.forEach(PathChannel::close));
        }
        return CompletableFuture.supplyAsync(() -> answer(incoming), control);
    }

    @Override
    public synchronized boolean isTaken() {
        return closed;
    }

    @Override
    public synchronized void onResigned(String why, InetSocketAddress from) {
        if (!closed) { // even where this side takes a former attempt for established
            cancellation = "%s has closed the connection: %s".formatted(InterfaceAddress.text(from.getAddress()), why);
        }
    }

    /** Begins an attempt; returns what one that was given up has left, even one that this side took for established. */
    private synchronized List<PathChannel> begin(long newAttempt) {
        if (closed) {
            throw new IllegalStateException("this connection is already established, or was closed");
        }
        if (newAttempt == attempt) {
            return List.of();
        }
        attempt = newAttempt;
        List<PathChannel> former = new ArrayList<>(paths.values());
        if (established != null) {
            former.addAll(established.paths());
            established = null;
        }
        paths.clear();
        lifelines.clear();
        return former;
    }

    private Answer answer(IncomingOffer incoming) {
        policy.get().requireSame(side.self(), incoming.offer().node());
        try {
            return bringUp(incoming);
        } catch (VerbsException e) {
            if (AWAY.contains(e.errno())) { // the way to the peer may be back in a moment, as one from it may be
                throw new PeerUnreachableException(String.valueOf(e.getMessage()), e);
            }
            throw e;
        }
    }

    private Answer bringUp(IncomingOffer incoming) {
        Offer offer = incoming.offer();
        Link link = link(incoming.local().getAddress(), offer.kind());
        MessageProtocol protocol =
                MessageProtocol.on(offer.kind(), offer.stripe().isOneOfSeveral());
        PathChannel path = factory.open(link, PathRole.RECEIVER, protocol, false);
        try (Unwinding unwinding = new Unwinding()) {
            unwinding.onFailure(path::close);
            factory.connect(
                    path,
                    PathRole.RECEIVER,
                    protocol,
                    new PeerEnd(
                            offer.endpoint(),
                            offer.clearToSend(),
                            offer.maxMessageBytes(),
                            link.local().assumedMbps()),
                    incoming.key(),
                    trafficClass);
            unwinding.succeeded();
        }
        var _ = incoming.result().whenCompleteAsync((established, _) -> finish(path, incoming, established), control);
        return new Answer(
                side.self().name(),
                offer.kind(),
                path.endpoint(),
                DataPathProbe.target(link),
                path.maxMessageBytes(),
                link.local().assumedMbps(),
                isResumable(offer),
                0);
    }

    private boolean isResumable(Offer offer) {
        return side.self().failover() && offer.node().failover();
    }

    private Link link(InetAddress local, LinkKind kind) {
        for (Link link : links.all()) {
            if (link.local().kind() == kind && link.local().address().address().equals(local)) {
                return link;
            }
        }
        throw new IllegalArgumentException(
                "%s has no %s link here; check that TRIGON_LINKS and the devices agree on both nodes"
                        .formatted(InterfaceAddress.text(local), kind));
    }

    /** The handshake is over; without {@code link} it failed. */
    private void finish(PathChannel path, IncomingOffer incoming, @Nullable Established link) {
        if (link != null) {
            factory.watch(path, link, incoming.offer().node().name());
            factory.awaitOpen(path);
        }
        if (link != null && establish(path, link)) {
            side.connectionLog()
                    .logUp("receives from %s %s over %s: %s"
                            .formatted(
                                    incoming.offer().node().name(),
                                    InterfaceAddress.text(incoming.remote().getAddress()),
                                    path.link(),
                                    path.link().local().carrier()));
        } else {
            path.close();
        }
    }

    /** The connection is there when all of its queue pairs are. False if this one came too late. */
    private synchronized boolean establish(PathChannel path, Established link) {
        Stripe stripe = link.offer().stripe();
        if (closed || established != null || stripe.attempt() != attempt) {
            return false;
        }
        paths.put(stripe.index(), path);
        lifelines.add(link.lifeline());
        if (paths.size() == link.stripes()) {
            established = new ConnectedPaths(
                    MessageProtocol.on(link.offer().kind(), stripe.isOneOfSeveral()),
                    List.copyOf(paths.values()),
                    new Counterpart(
                            link.offer().node().name(),
                            link.offer().node().index(),
                            link.offer().listeners(),
                            true, // an offer does not say
                            connectionId,
                            secret,
                            trafficClass),
                    isResumable(link.offer()));
            paths.clear();
        }
        return true;
    }

    /**
     * The paths, in the order that both ends know, once; null as long as there are none, or the peer may not know yet
     * that there are.
     *
     * @throws NoConnectionException if the peer has said that it gives up
     */
    public synchronized @Nullable ConnectedPaths take() {
        unaskedLooks = 0;
        if (cancellation != null) {
            throw new NoConnectionException(cancellation);
        }
        ConnectedPaths taken = allHeard() ? established : null;
        if (taken != null) {
            established = null;
            // one listen comm gives one receive comm
            closed = true;
        }
        return taken;
    }

    private boolean allHeard() {
        for (Lifeline each : lifelines) { // no stream: NCCL asks over and over
            if (!each.isHeard()) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns how often this was called since there is a connection and {@link #take} was called last; 0 if there is
     * none.
     */
    public synchronized int unaskedLooks() {
        if (established != null) {
            unaskedLooks++;
        }
        return unaskedLooks;
    }

    /** Accepts nothing any more, and closes what came too late. Closing twice is allowed. */
    public void close() {
        List<PathChannel> late = new ArrayList<>();
        synchronized (this) {
            closed = true;
            late.addAll(paths.values());
            paths.clear();
            if (established != null) {
                late.addAll(established.paths());
                established = null;
            }
        }
        late.forEach(PathChannel::close);
    }

    /** For the log: what it holds. */
    @Override
    public synchronized String toString() {
        return established == null
                ? "a listen comm"
                : established.paths().getFirst().toString();
    }
}
