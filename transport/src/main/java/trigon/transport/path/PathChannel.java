package trigon.transport.path;

import java.net.InetAddress;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.Established;
import trigon.handshake.LifelineEnd;
import trigon.handshake.message.EndFailure;
import trigon.handshake.message.RemoteMemory;
import trigon.nccl.NcclResult;
import trigon.qpstate.QueuePairLifecycle;
import trigon.qpstate.QueuePairParameters;
import trigon.trace.TraceLog;
import trigon.transport.Unwinding;
import trigon.transport.metrics.PathCounters;
import trigon.verbs.AddressVector;
import trigon.verbs.CompletionQueue;
import trigon.verbs.ConnectionKey;
import trigon.verbs.Mtu;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairEndpoint;

/**
 * One end of a path to a peer, over one link: a queue pair, its completion queue, the ring by which the receiver says
 * where messages may go, and the lifeline that tells of the peer's end. It knows nothing of the messages, nor of who
 * sends them.
 *
 * <p>Opened and connected by one control thread, then handed to a session, whose thread posts and polls. Lost and
 * closed on any thread. Closed once, in the order QP, MR, CQ.
 */
public final class PathChannel implements PeerWatch.Watched, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(PathChannel.class);

    private final Link link;
    private final PathRole role;
    private final int sendQueueDepth;
    private final PathResources resources;
    private final PathCounters counters;

    private final Mtu longestPacket;

    private long maxMessageBytes;
    private int speedMbps;
    private RemoteMemory remoteMemory = RemoteMemory.NONE;
    private @Nullable QueuePairEndpoint remote;
    private volatile @Nullable PeerWatch watch;
    private volatile PathState state = PathState.OPENING;

    /** Why it is lost; null as long as it is not. Written with the lock held. */
    private volatile @Nullable PathLoss loss;

    /** Told of that; its own part only, as it is called with the lock held. */
    private Runnable whenLost = () -> {};

    private final FailedRequests failedRequests = new FailedRequests(this::knownLoss);

    private volatile PathKeeper keeper = PathKeeper.NONE;

    /**
     * {@link PathResources#open}: the queue pair is in INIT.
     *
     * @param shortPackets whether longer packets than Ethernet's usual MTU takes are lost on its way
     */
    public static PathChannel open(
            Link link,
            PathRole role,
            PathCapacity capacity,
            QueuePairParameters parameters,
            RandomGenerator random,
            boolean shortPackets) {
        PathChannel path = new PathChannel(link, role, capacity, parameters, random, shortPackets);
        link.paths().add(path);
        return path;
    }

    private PathChannel(
            Link link,
            PathRole role,
            PathCapacity capacity,
            QueuePairParameters parameters,
            RandomGenerator random,
            boolean shortPackets) {
        this.link = link;
        this.role = role;
        longestPacket = shortPackets ? Mtu.MTU_1024 : Mtu.MTU_4096;
        sendQueueDepth = capacity.sendQueueDepth();
        maxMessageBytes = link.port().maxMessageSize();
        speedMbps = link.local().assumedMbps();
        try (Unwinding unwinding = new Unwinding()) {
            resources = PathResources.open(link, role, capacity, parameters, random);
            unwinding.onFailure(resources::close);
            counters = link.counters().path(role.toString());
            unwinding.succeeded();
        }
        counters.state(state.code());
    }

    /** The peer has said how long its messages may be, and how fast its link is; before {@link #connect}. */
    public void limit(long peersMaxMessageBytes, int peersMbps) {
        maxMessageBytes = Math.min(maxMessageBytes, peersMaxMessageBytes);
        speedMbps = Math.max(1, Math.min(speedMbps, peersMbps));
    }

    /**
     * Connects it to the peer's end: READY_TO_RECEIVE, then READY_TO_SEND. May block on address resolution.
     *
     * @param peer the peer's queue pair
     * @param key what both queue pairs are to prove to each other that they know, on devices that ask for it
     * @param peerMemory what this end may write at the peer
     * @param trafficClass of the address vector
     * @param serviceLevel of the address vector
     */
    public void connect(
            QueuePairEndpoint peer, ConnectionKey key, RemoteMemory peerMemory, int trafficClass, int serviceLevel) {
        remote = peer;
        remoteMemory = peerMemory;
        AddressVector route = new AddressVector(
                peer.gid(),
                link.gidIndex(),
                peer.lid(),
                serviceLevel,
                trafficClass,
                AddressVector.MAX_HOP_LIMIT,
                link.local().port());
        resources.lifecycle().readyToReceive(peer, Mtu.min(endpoint().mtu(), peer.mtu()), route, key);
        resources.lifecycle().readyToSend(endpoint().psn());
    }

    /**
     * Has it notice when the peer is gone, from outside the data path: a receiver that waits has nothing on its way
     * that could fail.
     *
     * @param established the handshake, whose lifeline {@link #close} releases
     * @param name of the peer's node and its address, for the log
     * @param atOnce runs what may block
     * @param afterGrace the same, once the peer's last messages and acknowledgements have had time to come
     */
    public synchronized void watch(Established established, String name, Executor atOnce, Executor afterGrace) {
        if (state == PathState.CLOSED) {
            established.lifeline().release();
            return;
        }
        InetAddress address = established.remote().getAddress();
        PeerWatch watching = new PeerWatch(established.lifeline(), name, address, afterGrace);
        watch = watching;
        counters.peer(name);
        enter(PathState.UP);
        watching.whenOver(this, atOnce);
    }

    /** The peer has gone, however it was found out; if its lifeline has ended, that says how. */
    public void peerIsGone(LifelineEnd otherwise) {
        PathLoss.OfPeer known = watch == null ? null : watch.loss();
        peerIsGone(known == null ? new PathLoss.OfPeer(peer(), otherwise) : known);
    }

    @Override
    public void peerIsGone(PathLoss.OfPeer told) {
        if (keeper.takeOver(told)) {
            return;
        }
        PathLoss.OfPeer lost = told.over(link.whyDown());
        synchronized (this) {
            if (state == PathState.CLOSED) {
                return;
            }
            PeerWatch watching = watch;
            boolean mayReceive = role == PathRole.RECEIVER && queuePair().mayStillReceive();
            if (lost.hasClosed() && mayReceive && watching != null) {
                // its sends were complete when it went, and NCCL may ask for them much later
                watching.afterGrace().execute(() -> peerIsGone(lost));
                return;
            }
            lose(lost);
        }
        resources.lifecycle().fail(new IllegalStateException(lost.words()));
        // a peer that lets go is how every connection ends; who still waits for it hears a warning of its own
        if (failedRequests.areUnexplained() || lost.isSilence()) {
            log.warn("{}: {}. Requests that are not finished fail", this, lost.words());
        } else {
            log.info("{}: {}", this, lost.words());
        }
    }

    /**
     * This end is of no use any more, by its own doing: what is asked of it fails. At once; endQueuePair follows.
     *
     * @param result of requests that are not finished
     * @return false if it had come to its end before
     */
    @Override
    public boolean giveUp(NcclResult result, EndFailure failure) {
        PeerWatch watching;
        synchronized (this) {
            if (state == PathState.CLOSED || loss != null) {
                return false;
            }
            lose(new PathLoss.Here(result, failure));
            watching = watch;
        }
        if (watching != null) {
            watching.lifeline().fail(failure);
        }
        return true;
    }

    /** Takes the queue pair of an end that is {@linkplain #giveUp given up} to the error state. May block. */
    public void endQueuePair() {
        PathLoss known = loss;
        if (state == PathState.CLOSED || known == null) {
            return;
        }
        try {
            resources.lifecycle().fail(new IllegalStateException(known.words()));
        } catch (RuntimeException e) {
            // a device that has failed as a whole may refuse everything
            log.debug("{}: the queue pair cannot be taken to the error state", this, e);
        }
    }

    // under the lock
    private void lose(PathLoss why) {
        loss = why;
        enter(PathState.LOST);
        if (!(why instanceof PathLoss.OfPeer(var _, LifelineEnd.Released _, var _))) {
            counters.lost();
        }
        TraceLog.event("path lost", "path", this, "why", why.words());
        whenLost.run();
    }

    private void enter(PathState next) { // under the lock
        state = next;
        counters.state(next.code());
    }

    /** Runs something that returns at once, on any thread, as soon as there is a {@link #loss}, or there is one. */
    public synchronized void whenLost(Runnable step) {
        whenLost = step;
        if (loss != null) {
            step.run();
        }
    }

    /** Has somebody look after it, and at what has lost it already. */
    public void keptBy(PathKeeper by) {
        keeper = by;
        PeerWatch watching = watch;
        if (watching != null) {
            watching.lifeline().whenQuiet(by::suspect);
        }
        PathLoss known = loss;
        if (known != null && by.takeOver(known)) {
            synchronized (this) {
                loss = null;
                enter(PathState.UP);
            }
        }
    }

    @Override
    public PathKeeper keeper() {
        return keeper;
    }

    public boolean isQuiet() {
        PeerWatch watching = watch;
        return watching != null && watching.lifeline().isQuiet();
    }

    /**
     * Nothing is asked of it any more. Returns its queue pair, for who stops it on the {@linkplain Link#begin device's
     * thread}: what has come completes then, with success, the rest is flushed, and nothing moves any more.
     */
    public synchronized QueuePairLifecycle interrupt() {
        if (state != PathState.CLOSED) {
            enter(PathState.INTERRUPTED);
        }
        return resources.lifecycle();
    }

    /** Why nothing more will come over it; null as long as that is not known. */
    public @Nullable PathLoss loss() {
        return loss;
    }

    /** Tells whether the peer has ended its part, or this end has, whatever may still come of what it has sent. */
    public boolean isPeerLeaving() {
        PeerWatch watching = watch;
        return watching != null && watching.lifeline().lost().isDone();
    }

    /** Returns what is known of the loss, be it only that the lifeline has ended; null if nothing is. */
    private @Nullable PathLoss knownLoss() {
        PathLoss known = loss;
        PeerWatch watching = watch;
        return known != null || watching == null ? known : watching.loss();
    }

    /** Why its requests have failed, if any have. */
    public FailedRequests failedRequests() {
        return failedRequests;
    }

    /** Tells the peer that this end is unusable; it need not wait for more. Does not block. */
    public void failed(EndFailure failure) {
        PeerWatch watching = watch;
        if (watching != null) {
            watching.fail(failure, failedRequests.areUnexplained() && failure.scope() != EndFailure.Scope.PATH);
        }
    }

    /** The link it goes over. */
    public Link link() {
        return link;
    }

    /** Returns what the data path counts over it; plain fields, written by NCCL's thread. */
    public PathCounters counters() {
        return counters;
    }

    public QueuePairEndpoint endpoint() {
        return resources.endpoint().limitedTo(longestPacket);
    }

    /** The ring by which the receiver says where messages may go; only where the capacity has one. */
    public ClearToSendRing clearToSendRing() {
        ClearToSendRing ring = resources.clearToSendRing();
        if (ring == null) {
            throw new IllegalStateException(this + " has no clear-to-send ring");
        }
        return ring;
    }

    /** The peer's end; null before {@link #connect}. */
    public @Nullable QueuePairEndpoint remote() {
        return remote;
    }

    /** The peer's node and its address; empty before {@link #watch}. */
    public String peer() {
        PeerWatch watching = watch;
        return watching == null ? "" : watching.peer();
    }

    /**
     * Returns where the handshake's peer is, a relay's address where it came through relays; null before {@link
     * #watch}.
     */
    public @Nullable InetAddress peerAddress() {
        PeerWatch watching = watch;
        return watching == null ? null : watching.address();
    }

    public RemoteMemory forPeer() {
        ClearToSendRing ring = resources.clearToSendRing();
        return ring == null ? RemoteMemory.NONE : ring.forPeer();
    }

    public RemoteMemory remoteMemory() {
        return remoteMemory;
    }

    /** The longest message of both ports, in bytes. */
    public long maxMessageBytes() {
        return maxMessageBytes;
    }

    /** The speed of the slower port's link, as far as it is known. */
    public int speedMbps() {
        return speedMbps;
    }

    /** Send work requests that may be outstanding. */
    public int sendQueueDepth() {
        return sendQueueDepth;
    }

    /** The queue pair, until the path is closed. */
    @Override
    public QueuePair queuePair() {
        return resources.lifecycle().queuePair();
    }

    public CompletionQueue completionQueue() {
        return resources.completionQueue();
    }

    /** Closes everything, after all that was {@linkplain Link#begin begun} before. Closing twice is allowed. */
    @Override
    public void close() {
        synchronized (this) {
            if (state == PathState.CLOSED) {
                return;
            }
            enter(PathState.CLOSED);
            link.paths().remove(this);
            PeerWatch watching = watch;
            if (watching != null) {
                watching.lifeline().release();
            }
        }
        var _ = link.begin(() -> {
            resources.close();
            counters.close();
        });
    }

    /** For errors: the link and the peer, with both ends' queue pairs and GIDs where the link is RDMA. */
    @Override
    public String toString() {
        return link.describe(role.toString(), endpoint(), remote, peer().isEmpty() ? "a peer" : peer());
    }
}
