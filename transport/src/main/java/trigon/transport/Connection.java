package trigon.transport;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.Lifeline;
import trigon.handshake.LifelineEnd;
import trigon.handshake.RemoteMemory;
import trigon.qpstate.QueuePairLifecycle;
import trigon.qpstate.QueuePairParameters;
import trigon.verbs.AccessFlag;
import trigon.verbs.AddressVector;
import trigon.verbs.CompletionQueue;
import trigon.verbs.ConnectionKey;
import trigon.verbs.Mtu;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.QueuePairEndpoint;
import trigon.verbs.WorkCompletionStatus;

/**
 * What one end of a connection holds on its device: a queue pair, its completion queue, and what its
 * {@link MessageProtocol} needs. A comm has one, or several, its stripes.
 *
 * <p>Opened and connected by one control thread, then handed to the comm. Closed once, in the order QP, MR, CQ.
 */
final class Connection implements AutoCloseable {

    /** Which end it is. */
    enum Role {
        SENDER,
        RECEIVER
    }

    private static final Logger log = LoggerFactory.getLogger(Connection.class);

    private final Link link;
    private final Role role;
    private final MessageProtocol protocol;
    private final @Nullable ClearToSendRing clearToSendRing;
    private final CompletionQueue completionQueue;
    private final QueuePairLifecycle lifecycle;
    private final QueuePairEndpoint endpoint;
    private final int sendQueueDepth;

    private long maxMessageBytes;
    private int speedMbps;
    private RemoteMemory remoteMemory = RemoteMemory.NONE;
    private @Nullable QueuePairEndpoint remote;
    private volatile @Nullable Watch watch;
    private boolean closed;

    /** Why nothing more will come from the peer. */
    private volatile @Nullable String loss;

    /** Told of that; its own part only, as it is called with the lock held. */
    private Runnable whenLost = () -> {};

    /** What requests return where this end was given up here; null if it was not. */
    private volatile @Nullable NcclResult givenUp;

    /** Requests have failed as consequences of something that was not known then. */
    private volatile boolean unexplained;

    /** Who is at the other end, and what tells of its end. */
    private record Watch(Lifeline lifeline, String peer, Executor afterGrace) {}

    /**
     * Creates the queue pair and brings it to INIT.
     *
     * @throws trigon.verbs.VerbsException if the device refuses; nothing is left open then
     */
    static Connection open(
            Link link, Role role, MessageProtocol protocol, QueuePairParameters parameters, RandomGenerator random) {
        return new Connection(link, role, protocol, parameters, random);
    }

    private Connection(
            Link link, Role role, MessageProtocol protocol, QueuePairParameters parameters, RandomGenerator random) {
        this.link = link;
        this.role = role;
        this.protocol = protocol;
        maxMessageBytes = link.port().maxMessageSize();
        speedMbps = link.local().speedMbps();
        boolean rendezvous = protocol != MessageProtocol.EAGER;
        int receiveQueueDepth = receiveQueueDepth(role, protocol);
        sendQueueDepth = sendQueueDepth(role, protocol, maxMessageBytes);
        try (Unwinding unwinding = new Unwinding()) {
            ClearToSendRing ring = rendezvous ? new ClearToSendRing(link, role, protocol) : null;
            clearToSendRing = ring;
            if (ring != null) {
                unwinding.onFailure(ring::close);
            }
            completionQueue = link.device().createCompletionQueue(sendQueueDepth + receiveQueueDepth);
            unwinding.onFailure(completionQueue::close);
            int inline = role == Role.RECEIVER ? protocol.clearToSendBytes() : 0;
            QueuePair queuePair = link.device()
                    .createQueuePair(
                            link.protectionDomain(),
                            new QueuePairCapacity(
                                    completionQueue, completionQueue, sendQueueDepth, receiveQueueDepth, inline));
            unwinding.onFailure(queuePair::close);
            lifecycle = new QueuePairLifecycle(queuePair, link.local().deviceName(), parameters);
            lifecycle.initialize(link.local().port(), 0, queuePairAccess());
            endpoint = new QueuePairEndpoint(
                    queuePair.number(),
                    random.nextInt(1 << 24),
                    link.local().gid(),
                    link.port().lid(),
                    link.port().activeMtu());
            unwinding.succeeded();
        }
        link.connections().add(this);
    }

    private static int receiveQueueDepth(Role role, MessageProtocol protocol) {
        if (role == Role.SENDER) {
            return 1;
        }
        return protocol == MessageProtocol.RENDEZVOUS ? RendezvousReceiveComm.RECEIVE_QUEUE_DEPTH : RequestRing.SLOTS;
    }

    private static int sendQueueDepth(Role role, MessageProtocol protocol, long maxMessageBytes) {
        return switch (protocol) {
            case RENDEZVOUS, STRIPED ->
                role == Role.SENDER
                        ? RendezvousSendComm.sendQueueDepth(maxMessageBytes)
                        : RendezvousReceiveComm.SEND_QUEUE_DEPTH;
            case EAGER -> role == Role.SENDER ? EagerSendComm.SEND_QUEUE_DEPTH : 1;
        };
    }

    // the sender's ring is written by the peer, and so are the receiver's buffers
    private static Set<AccessFlag> queuePairAccess() {
        return EnumSet.of(AccessFlag.REMOTE_WRITE);
    }

    /**
     * Connects it to the peer's end: READY_TO_RECEIVE, then READY_TO_SEND. May block on address resolution.
     *
     * @param peer the peer's queue pair
     * @param key what both queue pairs are to prove to each other that they know, on devices that ask for it
     * @param peerMemory what this end may write at the peer
     * @param peerMaxMessageBytes the longest message of the peer's port
     * @param trafficClass of the address vector
     * @param serviceLevel of the address vector
     * @throws IllegalArgumentException if the longest messages do not fit, or take too many parts for the send queue
     */
    void connect(
            QueuePairEndpoint peer,
            ConnectionKey key,
            RemoteMemory peerMemory,
            long peerMaxMessageBytes,
            int trafficClass,
            int serviceLevel) {
        remote = peer;
        remoteMemory = peerMemory;
        maxMessageBytes = Math.min(maxMessageBytes, peerMaxMessageBytes);
        requireFitting(peerMaxMessageBytes);
        AddressVector route = new AddressVector(
                peer.gid(),
                link.gidIndex(),
                peer.lid(),
                serviceLevel,
                trafficClass,
                AddressVector.MAX_HOP_LIMIT,
                link.local().port());
        lifecycle.readyToReceive(peer, Mtu.min(endpoint.mtu(), peer.mtu()), route, key);
        lifecycle.readyToSend(endpoint.psn());
    }

    private void requireFitting(long peerMaxMessageBytes) {
        boolean fits = switch (protocol) {
            case RENDEZVOUS, STRIPED ->
                role == Role.RECEIVER || RendezvousSendComm.fits(sendQueueDepth, maxMessageBytes);
            case EAGER -> maxMessageBytes >= Comm.MAX_MESSAGE_BYTES;
        };
        if (!fits) {
            throw new IllegalArgumentException(
                    "the peer's port takes messages of %d bytes at most, too short for a send queue of %d; see ibv_devinfo -v (max_msg_sz) on both nodes"
                            .formatted(peerMaxMessageBytes, sendQueueDepth));
        }
    }

    /**
     * Has it notice when the peer is gone, from outside the data path: a receiver that waits has nothing on its way that
     * could fail.
     *
     * @param peer the handshake's lifeline, which {@link #close} releases
     * @param name of the peer's node and its address, for the log
     * @param atOnce runs what may block
     * @param afterGrace the same, once the peer's last messages and acknowledgements have had time to come
     */
    synchronized void watch(Lifeline peer, String name, Executor atOnce, Executor afterGrace) {
        if (closed) {
            peer.release();
            return;
        }
        watch = new Watch(peer, name, afterGrace);
        var _ = peer.lost().thenAccept(end -> {
            switch (end) {
                case LifelineEnd.Here _ -> {}
                case LifelineEnd.Silent _ -> atOnce.execute(() -> peerIsGone(end));
                // the last acknowledgements come another way, and may be later than the end of the lifeline
                case LifelineEnd.Released _, LifelineEnd.Failed _, LifelineEnd.Broken _ ->
                    afterGrace.execute(() -> peerIsGone(end));
            }
        });
    }

    /** Whether the peer's queue pair is closed by that, as it is not where only this connection has failed. */
    private static boolean hasClosed(LifelineEnd end) {
        return switch (end) {
            case LifelineEnd.Released _, LifelineEnd.Broken _ -> true;
            case LifelineEnd.Failed(String reason) -> CommunicatorFailure.isToldBy(reason);
            case LifelineEnd.Silent _, LifelineEnd.Here _ -> false;
        };
    }

    private void peerIsGone(LifelineEnd end) {
        String why = explain(end);
        synchronized (this) {
            if (closed) {
                return;
            }
            boolean ended = hasClosed(end);
            Watch watching = watch;
            boolean receives = role == Role.RECEIVER;
            if (ended && receives && watching != null && queuePair().mayStillReceive()) {
                // its sends were complete when it went, and NCCL may ask for them much later
                watching.afterGrace().execute(() -> peerIsGone(end));
                return;
            }
            lose(why);
            lifecycle.fail(new PeerGoneException(why));
        }
        // a peer that lets go is how every connection ends; whoever still waits for it hears a warning of its own
        if (unexplained || end instanceof LifelineEnd.Silent) {
            log.warn("{}: {}. Requests that are not finished fail", this, why);
        } else {
            log.info("{}: {}", this, why);
        }
    }

    /**
     * This end is of no use any more, for a reason that is not the peer's: what NCCL asks of it fails, and the peer is told.
     * Does not block; {@link #endQueuePair} follows.
     *
     * @param result what requests return that are not finished
     * @param why for the log and the peer
     * @return false if it had come to its end before
     */
    boolean giveUp(NcclResult result, String why) {
        Watch watching;
        synchronized (this) {
            if (closed || loss != null) {
                return false;
            }
            // in this order: who sees the loss sees whose it is
            givenUp = result;
            lose(why);
            watching = watch;
        }
        if (watching != null) {
            watching.lifeline().fail(why);
        }
        return true;
    }

    /** Takes the queue pair of an end that is {@linkplain #giveUp given up} to the error state. May block. */
    synchronized void endQueuePair() {
        if (closed) {
            return;
        }
        try {
            lifecycle.fail(new GivenUpException(loss()));
        } catch (RuntimeException e) {
            // a device that has failed as a whole may refuse everything
            log.debug("{}: the queue pair cannot be taken to the error state", this, e);
        }
    }

    // under the lock
    private void lose(String why) {
        loss = why;
        whenLost.run();
    }

    /**
     * Runs something as soon as {@link #isPeerGone}, at once where it is so already.
     *
     * @param step returns at once; on any thread
     */
    synchronized void whenLost(Runnable step) {
        whenLost = step;
        if (loss != null) {
            step.run();
        }
    }

    /** What requests return that are not finished, since this end was {@linkplain #giveUp given up}; null if it was not. */
    @Nullable
    NcclResult givenUp() {
        return givenUp;
    }

    private String explain(LifelineEnd end) {
        return "lost %s: %s".formatted(peerName(), end.explanation());
    }

    private String peerName() {
        Watch watching = watch;
        return watching == null ? "a peer" : watching.peer();
    }

    /** Whether the peer is known to be gone; nothing more will come from it. */
    boolean isPeerGone() {
        return loss != null;
    }

    /** Whether the peer has ended its part, or this end has, whatever may still come of what it has sent. */
    boolean isPeerLeaving() {
        Watch watching = watch;
        return watching != null && watching.lifeline().lost().isDone();
    }

    /** Why {@link #isPeerGone}. */
    String loss() {
        String known = loss;
        return known == null ? "the peer is gone" : known;
    }

    /**
     * Why a work request failed, as far as it is known: one that was flushed, or not answered, is a consequence. What is
     * learned later is logged then. For the end of a comm, not for the data path.
     */
    String why(WorkCompletionStatus status) {
        if (status != WorkCompletionStatus.WR_FLUSHED && status != WorkCompletionStatus.RETRY_EXCEEDED) {
            return status.explanation();
        }
        String known = loss;
        if (known != null) {
            return known;
        }
        Watch watching = watch;
        LifelineEnd end = watching == null ? null : watching.lifeline().lost().getNow(null);
        if (end != null && !(end instanceof LifelineEnd.Here)) {
            return explain(end);
        }
        unexplained = true;
        return status == WorkCompletionStatus.RETRY_EXCEEDED
                ? status.explanation()
                : "the queue pair is in the error state, and no request failed before; if the peer is the cause, the next line about this connection says what became of it, otherwise look at the peer's log";
    }

    /** Whether requests have failed for a reason that the lifeline may still tell, within {@link ConnectionFactory#GRACE}. */
    boolean isUnexplained() {
        return unexplained;
    }

    /**
     * Why it failed, by what is known now.
     *
     * @param asFarAsKnown what was known when requests failed
     */
    String explained(String asFarAsKnown) {
        Watch watching = watch;
        LifelineEnd end = watching == null ? null : watching.lifeline().lost().getNow(null);
        if (!unexplained || end == null || end instanceof LifelineEnd.Here) {
            return this + ": " + asFarAsKnown;
        }
        return this + ": " + explain(end);
    }

    /** Tells the peer that this end is unusable; it need not wait for more. Does not block. */
    void failed(String what) {
        Watch watching = watch;
        if (watching == null) {
            return;
        }
        if (unexplained) {
            // the lifeline may still tell what is the matter
            watching.afterGrace().execute(() -> watching.lifeline().fail(what));
        } else {
            watching.lifeline().fail(what);
        }
    }

    Link link() {
        return link;
    }

    /** What the peer is told about this end. */
    QueuePairEndpoint endpoint() {
        return endpoint;
    }

    MessageProtocol protocol() {
        return protocol;
    }

    /** Not with {@link MessageProtocol#EAGER}. */
    ClearToSendRing clearToSendRing() {
        ClearToSendRing ring = clearToSendRing;
        if (ring == null) {
            throw new IllegalStateException(this + " has no clear-to-send ring");
        }
        return ring;
    }

    /** What the peer may write. */
    RemoteMemory forPeer() {
        return clearToSendRing == null ? RemoteMemory.NONE : clearToSendRing.forPeer();
    }

    RemoteMemory remoteMemory() {
        return remoteMemory;
    }

    /** The longest message of both ports, in bytes. */
    long maxMessageBytes() {
        return maxMessageBytes;
    }

    /** The speed of the slower port's link, as far as it is known. */
    int speedMbps() {
        return speedMbps;
    }

    /** The peer has said how fast its link is. */
    void limitSpeed(int peersMbps) {
        speedMbps = Math.max(1, Math.min(speedMbps, peersMbps));
    }

    int sendQueueDepth() {
        return sendQueueDepth;
    }

    QueuePair queuePair() {
        return lifecycle.queuePair();
    }

    CompletionQueue completionQueue() {
        return completionQueue;
    }

    /** Closes everything. Closing twice is allowed. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        link.connections().remove(this);
        Watch watching = watch;
        if (watching != null) {
            watching.lifeline().release();
        }
        lifecycle.close();
        if (clearToSendRing != null) {
            clearToSendRing.close();
        }
        completionQueue.close();
    }

    /** For errors: both ends' queue pairs, GIDs, the peer and the link. */
    @Override
    public String toString() {
        return "%s on %s: local %s, peer %s of %s"
                .formatted(role == Role.SENDER ? "sender" : "receiver", link, endpoint, remote, peerName());
    }
}
