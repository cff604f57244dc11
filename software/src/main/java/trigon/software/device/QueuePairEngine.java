package trigon.software.device;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.call.Attention;
import trigon.software.call.NativePair;
import trigon.software.call.Reason;
import trigon.software.call.Word;
import trigon.software.connection.DataConnection;
import trigon.software.connection.LocalDevice;
import trigon.software.connection.Peer;
import trigon.software.connection.ProgressLock;
import trigon.software.requester.Requester;
import trigon.software.requester.RequestingQueuePair;
import trigon.software.responder.InboundConnection;
import trigon.software.responder.Responder;
import trigon.software.responder.RespondingQueuePair;
import trigon.software.wire.ConnectionProofs;
import trigon.system.Errno;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.VerbsException;

/**
 * What Java decides of a queue pair: its state, and its two halves, {@link Requester} and {@link Responder}, with their
 * connections. C moves its data, and says what there is to decide; both do that under its {@link ProgressLock}.
 */
final class QueuePairEngine implements RequestingQueuePair, RespondingQueuePair, ProgressLock.Work {

    private static final Logger log = LoggerFactory.getLogger(QueuePairEngine.class);

    private final int number;
    private final LocalDevice device;
    private final NativePair pair;
    private final SoftwareCompletionQueue sendCompletions;
    private final SoftwareCompletionQueue receiveCompletions;
    private final Runnable onBroken;
    private final ProgressLock lock;
    final Requester requester;
    final Responder responder;
    private final CurrentAttributes current = new CurrentAttributes();

    /** A connection of it was broken. */
    private final AtomicBoolean broken = new AtomicBoolean();

    /**
     * A queue pair in RESET.
     *
     * @param onBroken called when a connection is broken, once until the next RESET; by any thread
     */
    QueuePairEngine(
            int number,
            LocalDevice device,
            NativePair pair,
            SoftwareCompletionQueue sendCompletions,
            SoftwareCompletionQueue receiveCompletions,
            Runnable onBroken) {
        this.number = number;
        this.device = device;
        this.pair = pair;
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        this.onBroken = onBroken;
        lock = new ProgressLock(this, pair, device.eventLoop());
        requester = new Requester(this);
        responder = new Responder(this);
    }

    // ---- what C asks for

    /** C has asked for attention, of some queue pair. The event loop. */
    void onBell() {
        if (pair.has(Word.ASKS)) {
            lock.locked(() -> {});
        }
    }

    @Override
    public void onAttention() {
        int attention = (int) pair.get(Word.ATTENTION);
        if (attention != 0) {
            attendToConnections(attention);
            attendToTime(attention);
            attendToQueues(attention);
        }
    }

    private void attendToConnections(int attention) {
        if ((attention & Attention.TAKEN) != 0) {
            responder.endWaiting();
        }
        if ((attention & Attention.OUT_ENDED) != 0) {
            requester.onLost();
        }
        if ((attention & Attention.IN_ENDED) != 0) {
            responder.onEnded(attention);
        }
        if ((attention & Attention.FAILED) != 0) {
            log.debug("{} -> ERROR: {}", this, Reason.of(pair.get(Word.REASON)));
            stop();
        }
        if ((attention & Attention.CONNECT) != 0) {
            requester.connect();
        }
    }

    private void attendToTime(int attention) {
        if ((attention & Attention.TIMER) != 0) {
            requester.limitTime();
        }
        if ((attention & Attention.RECEIVER) != 0) {
            requester.onReceiver();
        }
        if ((attention & Attention.NOT_READY) != 0) {
            responder.repeatNotReady();
        }
        if ((attention & Attention.HOLD) != 0) {
            responder.holdAcknowledgements();
        }
    }

    private void attendToQueues(int attention) {
        if ((attention & Attention.SENDS_OVERRAN) != 0) {
            sendCompletions.onOverrun();
        }
        if ((attention & Attention.RECEIVES_OVERRAN) != 0) {
            receiveCompletions.onOverrun();
        }
    }

    /** Both halves end, which C has left. */
    private void stop() {
        try {
            requester.stop();
        } finally {
            responder.stop(); // also where the other half met a lack of memory
        }
        responder.endWaiting();
    }

    @Override
    public @Nullable DataConnection outbound() {
        return requester.connection();
    }

    @Override
    public @Nullable DataConnection inbound() {
        return responder.connection();
    }

    // ---- connections

    /** A connection with a preamble that names this queue pair. Any thread. */
    void offer(InboundConnection connection) {
        lock.locked(() -> responder.offer(connection));
    }

    @Override
    public void onBroken() {
        if (!isClosed() && broken.compareAndSet(false, true)) {
            onBroken.run();
        }
    }

    @Override
    public boolean hasInboundConnection() {
        return responder.isConnected();
    }

    /** Returns whether {@link #onBroken} is still of interest: nothing else has told of it by now. Any thread. */
    boolean isSilentlyBroken() {
        boolean connected = switch (state()) {
            case READY_TO_RECEIVE, READY_TO_SEND, SEND_QUEUE_DRAINED, SEND_QUEUE_ERROR -> true;
            case RESET, INIT, ERROR -> false;
        };
        return connected && !isClosed() && broken.get();
    }

    /** {@link trigon.verbs.QueuePair#awaitOpen}. */
    boolean awaitOpen(Duration timeout) {
        boolean[] open = new boolean[1];
        lock.locked(() -> {
            lock.await(() -> !requester.isConnecting(), timeout.toNanos());
            open[0] = requester.isConnected();
        });
        return open[0];
    }

    @Override
    public void onConnectFinished() {
        lock.signal();
    }

    /** {@link trigon.verbs.QueuePair#mayStillReceive}. */
    boolean mayStillReceive() {
        boolean[] may = new boolean[1];
        lock.locked(() -> may[0] = !isClosed() && state() != QueuePairStateCode.ERROR && responder.mayStillReceive());
        return may[0];
    }

    // ---- states

    /** {@link trigon.verbs.QueuePair#modify}. */
    void modify(QueuePairAttributes attributes) {
        lock.locked(() -> change(attributes));
    }

    private void change(QueuePairAttributes attributes) {
        if (isClosed()) {
            throw new VerbsException("ibv_modify_qp", toString(), Errno.EINVAL, "the queue pair is closed");
        }
        QueuePairStateCode from = state();
        StateRules.check(toString(), from, attributes);
        if (attributes.state() == QueuePairStateCode.ERROR) {
            pair.fail(Reason.ASKED_FOR);
            return;
        }
        AttributeLimits.check(toString(), attributes);
        switch (attributes.state()) {
            case RESET -> {
                setState(QueuePairStateCode.RESET);
                reset();
                broken.set(false);
            }
            case READY_TO_RECEIVE -> {
                current.takePeer(device, attributes);
                takeAccess();
                setState(QueuePairStateCode.READY_TO_RECEIVE);
                responder.start(attributes.receivePsn());
            }
            case READY_TO_SEND -> becomeReadyToSend(from, attributes);
            case INIT, SEND_QUEUE_DRAINED, SEND_QUEUE_ERROR, ERROR -> {
                current.take(attributes);
                takeAccess();
                setState(attributes.state());
            }
        }
        log.debug("{} {} -> {}", this, from, attributes.state());
    }

    private void becomeReadyToSend(QueuePairStateCode from, QueuePairAttributes attributes) {
        current.take(attributes);
        takeAccess();
        setState(QueuePairStateCode.READY_TO_SEND);
        if (from == QueuePairStateCode.READY_TO_RECEIVE) {
            requester.start(attributes);
        }
    }

    private void takeAccess() {
        pair.set(Word.ACCESS, current.accessBits());
        pair.set(Word.MIN_RNR_TIMER, current.minRnrTimer());
    }

    private void setState(QueuePairStateCode state) {
        pair.set(Word.STATE, state.code());
    }

    private void reset() {
        pair.reset();
        stop();
    }

    /** Its completion queue overran. Any thread. */
    void failOfOverrun() {
        lock.locked(() -> pair.fail(Reason.OVERRUN));
    }

    /** Ends it. True the first time. */
    boolean close() {
        boolean[] first = new boolean[1];
        lock.locked(() -> {
            first[0] = !isClosed();
            pair.set(Word.CLOSED, 1);
            if (first[0]) {
                reset();
            }
        });
        if (first[0]) {
            pair.awaitMover();
        }
        return first[0];
    }

    // ---- for the two halves

    @Override
    public int number() {
        return number;
    }

    @Override
    public LocalDevice device() {
        return device;
    }

    @Override
    public ProgressLock lock() {
        return lock;
    }

    @Override
    public NativePair inC() {
        return pair;
    }

    /** Any thread. */
    @Override
    public QueuePairStateCode state() {
        return QueuePairStateCode.ofCode((int) pair.get(Word.STATE));
    }

    /** Any thread. */
    @Override
    public boolean isClosed() {
        return pair.has(Word.CLOSED);
    }

    @Override
    public boolean isReadyToSend() {
        return state() == QueuePairStateCode.READY_TO_SEND && !isClosed();
    }

    @Override
    public Peer peer() {
        Peer known = current.peer();
        if (known == null) {
            throw new IllegalStateException(this + " has no peer yet");
        }
        return known;
    }

    @Override
    public ConnectionProofs proofs() {
        return current.proofs();
    }

    @Override
    public String toString() {
        return "qp 0x%06x of %s".formatted(number, device.name());
    }
}
