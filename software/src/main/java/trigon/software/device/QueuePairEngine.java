package trigon.software.device;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.connection.DataConnection;
import trigon.software.connection.LocalDevice;
import trigon.software.connection.Mover;
import trigon.software.connection.Peer;
import trigon.software.connection.ProgressLock;
import trigon.software.memory.ProtectedMemory;
import trigon.software.queue.PaddedCounter;
import trigon.software.queue.ReceiveQueue;
import trigon.software.queue.SendQueue;
import trigon.software.requester.Requester;
import trigon.software.requester.RequestingQueuePair;
import trigon.software.responder.InboundConnection;
import trigon.software.responder.Responder;
import trigon.software.responder.RespondingQueuePair;
import trigon.software.wire.ConnectionProofs;
import trigon.software.wire.WireFormat;
import trigon.system.Errno;
import trigon.verbs.AccessFlag;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.VerbsException;

/**
 * The work of a queue pair: its state, and its two halves, {@link Requester} and {@link Responder}, with their
 * connections. Its data are moved, and its state is changed, under its {@link ProgressLock}.
 */
final class QueuePairEngine implements RequestingQueuePair, RespondingQueuePair, ProgressLock.Work {

    private static final Logger log = LoggerFactory.getLogger(QueuePairEngine.class);

    private final int number;
    private final LocalDevice device;
    private final ProtectedMemory memory;
    private final SendQueue sendQueue;
    private final ReceiveQueue receiveQueue;
    private final CompletionSink sendCompletions;
    private final CompletionSink receiveCompletions;
    private final Runnable onBroken;
    private final ProgressLock lock;
    final Requester requester;
    final Responder responder;
    private final CurrentAttributes current = new CurrentAttributes();

    private volatile QueuePairStateCode state = QueuePairStateCode.RESET;
    volatile boolean awaitsReceive;
    private volatile boolean closed;

    /** The tail of the send queue that {@link #work} has seen. */
    private final PaddedCounter tailSeen = new PaddedCounter();

    private volatile boolean workDue;

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
            ProtectedMemory memory,
            Queues queues,
            @Nullable Mover mover,
            Runnable onBroken) {
        this.number = number;
        this.device = device;
        this.memory = memory;
        sendQueue = queues.sends();
        receiveQueue = queues.receives();
        sendCompletions = queues.sendCompletions();
        receiveCompletions = queues.receiveCompletions();
        this.onBroken = onBroken;
        lock = new ProgressLock(this, device.eventLoop(), mover);
        requester = new Requester(this, sendQueue);
        responder = new Responder(this, receiveQueue);
    }

    // ---- data path

    /** A receive was posted. The posting thread. */
    void onReceivePosted() {
        if (awaitsReceive || state == QueuePairStateCode.ERROR) {
            lock.goOn();
        }
    }

    @Override
    public void progress(boolean receives, boolean unpolled, long now) {
        if (receives) {
            responder.receive(unpolled, requester.hasWork());
            requester.receive(unpolled);
        }
        work();
        responder.send(unpolled, now);
    }

    @Override
    public void fail(Throwable cause) {
        log.warn("{} fails, for lack of memory or by a defect of the software device", this, cause);
        enterError("cannot go on: " + cause);
    }

    @Override
    public boolean isDue() {
        return workDue
                || sendQueue.tail() != tailSeen.getVolatile()
                || ((awaitsReceive || state == QueuePairStateCode.ERROR) && !receiveQueue.isEmpty());
    }

    @Override
    public @Nullable DataConnection outbound() {
        return requester.connection();
    }

    @Override
    public @Nullable DataConnection inbound() {
        return responder.connection();
    }

    @Override
    public void workLater() {
        workDue = true;
    }

    private void work() {
        workDue = false;
        tailSeen.setVolatile(sendQueue.tail());
        if (closed) {
            sendQueue.release(sendQueue.tail());
            receiveQueue.clear();
            return;
        }
        if (state == QueuePairStateCode.READY_TO_SEND) {
            requester.work();
        }
        if (state == QueuePairStateCode.ERROR) {
            requester.flush();
            responder.flush();
        } else {
            responder.goOnWaiting();
        }
    }

    // ---- connections

    /** A connection with a preamble that names this queue pair. Any thread. */
    void offer(InboundConnection connection) {
        lock.locked(() -> responder.offer(connection));
    }

    @Override
    public void onBroken() {
        if (!closed && broken.compareAndSet(false, true)) {
            onBroken.run();
        }
    }

    @Override
    public boolean hasInboundConnection() {
        return responder.isConnected();
    }

    @Override
    public boolean hasLostOutboundConnection() {
        return requester.isLost();
    }

    /** Returns whether {@link #onBroken} is still of interest: nothing else has told of it by now. Any thread. */
    boolean isSilentlyBroken() {
        boolean connected = switch (state) {
            case READY_TO_RECEIVE, READY_TO_SEND, SEND_QUEUE_DRAINED, SEND_QUEUE_ERROR -> true;
            case RESET, INIT, ERROR -> false;
        };
        return connected && !closed && broken.get();
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
        lock.locked(() -> may[0] = !closed && state != QueuePairStateCode.ERROR && responder.mayStillReceive());
        return may[0];
    }

    /** {@link trigon.verbs.QueuePair#stopAcknowledging}. */
    void stopAcknowledging() {
        responder.stopAcknowledging();
    }

    // ---- states

    /** {@link trigon.verbs.QueuePair#modify}. */
    void modify(QueuePairAttributes attributes) {
        lock.locked(() -> change(attributes));
    }

    private void change(QueuePairAttributes attributes) {
        if (closed) {
            throw new VerbsException("ibv_modify_qp", toString(), Errno.EINVAL, "the queue pair is closed");
        }
        QueuePairStateCode from = state;
        StateRules.check(toString(), from, attributes);
        if (attributes.state() == QueuePairStateCode.ERROR) {
            enterError("as asked for");
            return;
        }
        AttributeLimits.check(toString(), attributes);
        switch (attributes.state()) {
            case RESET -> reset();
            case READY_TO_RECEIVE -> becomeReadyToReceive(attributes);
            case READY_TO_SEND -> becomeReadyToSend(from, attributes);
            case INIT, SEND_QUEUE_DRAINED, SEND_QUEUE_ERROR, ERROR -> {
                current.take(attributes);
                state = attributes.state();
            }
        }
        log.debug("{} {} -> {}", this, from, state);
    }

    private void becomeReadyToReceive(QueuePairAttributes attributes) {
        current.takePeer(device, attributes);
        state = QueuePairStateCode.READY_TO_RECEIVE;
        responder.start(attributes.receivePsn());
    }

    private void becomeReadyToSend(QueuePairStateCode from, QueuePairAttributes attributes) {
        current.take(attributes);
        state = QueuePairStateCode.READY_TO_SEND;
        if (from == QueuePairStateCode.READY_TO_RECEIVE) {
            requester.start(attributes);
        }
    }

    @Override
    public void enterError(String reason) {
        if (closed || state == QueuePairStateCode.ERROR) {
            return;
        }
        log.debug("{} {} -> ERROR: {}", this, state, reason);
        state = QueuePairStateCode.ERROR;
        try {
            requester.stop();
        } finally {
            responder.stop(); // also where the other half met a lack of memory: nothing may reach what is flushed
        }
        responder.endWaiting();
        requester.flush();
        responder.flush();
    }

    private void reset() {
        state = QueuePairStateCode.RESET;
        requester.reset();
        responder.reset();
        broken.set(false);
    }

    /** Ends it. True the first time. */
    boolean close() {
        boolean[] first = new boolean[1];
        lock.locked(() -> {
            first[0] = !closed;
            closed = true;
            if (first[0]) {
                requester.reset();
                responder.reset();
            }
        });
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
    public ProtectedMemory memory() {
        return memory;
    }

    /** Any thread. */
    @Override
    public QueuePairStateCode state() {
        return state;
    }

    /** Any thread. */
    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public boolean isReadyToSend() {
        return state == QueuePairStateCode.READY_TO_SEND && !closed;
    }

    @Override
    public boolean allows(AccessFlag flag) {
        return current.allows(flag);
    }

    @Override
    public int minRnrTimer() {
        return current.minRnrTimer();
    }

    @Override
    public void setAwaitsReceive(boolean awaits) {
        awaitsReceive = awaits;
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
    public void completeSend(long workRequestId, int status, int opcode, int length) {
        sendCompletions.add(workRequestId, status, WireFormat.completionOpcode(opcode), length, 0, 0, number);
    }

    @Override
    public void completeReceive(long workRequestId, int status, int opcode, int byteLength, int immediate, int flags) {
        receiveCompletions.add(workRequestId, status, opcode, byteLength, immediate, flags, number);
    }

    @Override
    public String toString() {
        return "qp 0x%06x of %s".formatted(number, device.name());
    }
}
