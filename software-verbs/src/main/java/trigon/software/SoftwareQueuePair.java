package trigon.software;

import static trigon.software.WireFormat.FETCH_AND_ADD;
import static trigon.software.WireFormat.READ;
import static trigon.software.WireFormat.SEND;
import static trigon.software.WireFormat.SEND_WITH_IMMEDIATE;
import static trigon.software.WireFormat.WRITE;
import static trigon.software.WireFormat.WRITE_WITH_IMMEDIATE;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.verbs.AccessFlag;
import trigon.verbs.AddressVector;
import trigon.verbs.Errno;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttribute;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.SendFlag;
import trigon.verbs.VerbsException;

/**
 * A queue pair of a software device: the posting side of its two queues, its state, and its {@link Requester} and
 * {@link Responder} with their connections. Which thread moves its data, and changes its state, is a matter of its
 * {@link Turns}.
 */
final class SoftwareQueuePair implements QueuePair, Turns.Work {

    private static final Logger log = LoggerFactory.getLogger(SoftwareQueuePair.class);

    private final SoftwareDeviceContext context;
    private final Attendant attendant;
    private final SoftwareProtectionDomain protectionDomain;
    private final int number;
    private final SoftwareCompletionQueue sendCompletions;
    private final SoftwareCompletionQueue receiveCompletions;
    private final SendQueue sendQueue;
    private final ReceiveQueue receiveQueue;
    private final Requester requester;
    private final Responder responder;
    private final Turns turns;

    private volatile QueuePairStateCode state = QueuePairStateCode.RESET;
    private volatile boolean awaitsReceive;
    private volatile boolean closed;

    /** What {@link #work} has seen of the send queue. */
    private final PaddedIndex tailSeen = new PaddedIndex();

    private volatile boolean workDue;

    /** When a connection of it was broken, by {@link System#nanoTime}; 0 if none was. */
    private final AtomicLong brokenSince = new AtomicLong();

    // the rest is changed under the lock of the turns: set on the way to READY_TO_SEND
    private volatile int accessBits; // lane workers look at it
    private int minRnrTimer;
    private @Nullable Peer peer;
    private ConnectionProofs proofs = new ConnectionProofs(null);

    SoftwareQueuePair(
            SoftwareDeviceContext context,
            SoftwareProtectionDomain protectionDomain,
            int number,
            SoftwareCompletionQueue sendCompletions,
            SoftwareCompletionQueue receiveCompletions,
            QueuePairCapacity capacity) {
        this.context = context;
        attendant = context.attendant();
        this.protectionDomain = protectionDomain;
        this.number = number;
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        sendQueue = new SendQueue(capacity.sendWorkRequests(), capacity.inlineBytes());
        receiveQueue = new ReceiveQueue(capacity.receiveWorkRequests());
        requester = new Requester(this, sendQueue);
        responder = new Responder(this, receiveQueue);
        turns = new Turns(this, attendant);
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public int maxInlineBytes() {
        return sendQueue.inlineBytes();
    }

    @Override
    public QueuePairStateCode queryState() {
        return state;
    }

    // ---- data path

    @Override
    public int postSend(long workRequestId, long localAddress, int length, int localKey, int sendFlags) {
        return post(SEND, workRequestId, localAddress, length, localKey, 0, 0, 0, sendFlags);
    }

    @Override
    public int postSendWithImmediate(
            long workRequestId, long localAddress, int length, int localKey, int immediate, int sendFlags) {
        int opcode = SEND_WITH_IMMEDIATE;
        return post(opcode, workRequestId, localAddress, length, localKey, 0, 0, immediate, sendFlags);
    }

    @Override
    public int postWrite(
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int sendFlags) {
        return post(WRITE, workRequestId, localAddress, length, localKey, remoteAddress, remoteKey, 0, sendFlags);
    }

    @Override
    public int postWriteWithImmediate(
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int immediate,
            int sendFlags) {
        int opcode = WRITE_WITH_IMMEDIATE;
        return post(
                opcode, workRequestId, localAddress, length, localKey, remoteAddress, remoteKey, immediate, sendFlags);
    }

    @Override
    public int postRead(
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int sendFlags) {
        if ((sendFlags & SendFlag.INLINE) != 0) {
            return Errno.EINVAL;
        }
        return post(READ, workRequestId, localAddress, length, localKey, remoteAddress, remoteKey, 0, sendFlags);
    }

    @Override
    public int postFetchAndAdd(
            long workRequestId,
            long localAddress,
            int localKey,
            long remoteAddress,
            int remoteKey,
            long addend,
            int sendFlags) {
        if ((sendFlags & SendFlag.INLINE) != 0) {
            return Errno.EINVAL;
        }
        int opcode = FETCH_AND_ADD;
        int length = Long.BYTES;
        return post(opcode, workRequestId, localAddress, length, localKey, remoteAddress, remoteKey, addend, sendFlags);
    }

    private int post(
            int opcode,
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            long operand,
            int sendFlags) {
        QueuePairStateCode current = state;
        boolean accepts = current == QueuePairStateCode.READY_TO_SEND || current == QueuePairStateCode.ERROR;
        if (!accepts || closed || length < 0 || length > SoftwareDeviceContext.MAX_MESSAGE_BYTES) {
            return Errno.EINVAL;
        }
        long source = localAddress;
        if ((sendFlags & SendFlag.INLINE) != 0) {
            if (length > sendQueue.inlineBytes()) {
                return Errno.EINVAL;
            }
            if (!sendQueue.hasRoom()) {
                return Errno.ENOMEM;
            }
            source = sendQueue.copyInline(localAddress, length);
        }
        int result = sendQueue.offer(
                opcode, workRequestId, source, length, localKey, remoteAddress, remoteKey, operand, sendFlags);
        if (result == 0) {
            turns.send();
        }
        return result;
    }

    @Override
    public int postReceive(long workRequestId, long localAddress, int length, int localKey) {
        if (state == QueuePairStateCode.RESET || closed || length < 0) {
            return Errno.EINVAL;
        }
        int result = receiveQueue.offer(workRequestId, localAddress, length, localKey);
        if (result == 0) {
            responder.onReceivePosted();
        }
        if (result == 0 && (awaitsReceive || state == QueuePairStateCode.ERROR)) {
            turns.send();
        }
        return result;
    }

    @Override
    public int postEmptyReceives(int count) {
        int errno = 0;
        for (int i = 0; i < count && errno == 0; i++) {
            errno = postReceive(0, 0, 0, 0);
        }
        return errno;
    }

    // ---- turns

    /** Sends and receives what there is; by who polls the completion queue. */
    void poll() {
        turns.poll();
    }

    @Override
    public void turn(boolean receives, boolean attended, long now) {
        if (receives) {
            responder.receive(attended, requester.hasWork());
            requester.receive(attended);
        }
        work();
        responder.send(attended, now);
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
    public void arm() {
        requester.arm();
        responder.arm();
    }

    @Override
    public void disarm() {
        requester.disarm();
        responder.disarm();
    }

    Turns turns() {
        return turns;
    }

    /** Has {@link #work} run once more, after what is going on now. */
    void workLater() {
        workDue = true;
    }

    private void work() {
        workDue = false;
        tailSeen.setVolatile(sendQueue.tail());
        workOff();
    }

    private void workOff() {
        if (closed) {
            sendQueue.release(sendQueue.tail());
            receiveQueue.clear();
            return;
        }
        if (state == QueuePairStateCode.READY_TO_SEND) {
            requester.work();
        }
        if (state == QueuePairStateCode.ERROR) {
            flush();
        } else {
            responder.goOnWaiting();
        }
    }

    private void flush() {
        requester.flush();
        responder.flush();
    }

    /** A connection with a preamble that names this queue pair. */
    void offer(InboundConnection connection) {
        locked(() -> responder.offer(connection));
    }

    /** A connection that asks to be a lane of this queue pair's. */
    void offerLane(InboundConnection connection) {
        locked(() -> responder.offerLane(connection));
    }

    // ---- lane workers

    /** Something has become of a message that goes, or comes, in pieces. */
    void onPieces() {
        workLater();
        turns.send();
    }

    // ---- broken connections

    /**
     * One of its connections, or lanes, has ended, and not since the queue pair was stopped: what was sent on it may be lost
     * though its request is complete, and nobody need have posted something that fails by it. Any thread.
     */
    void onBroken() {
        // odd, so never 0, which stands for none
        if (!closed && brokenSince.compareAndSet(0, System.nanoTime() | 1)) {
            context.onBroken(this);
        }
    }

    /** Whether the connection that the peer opened is there; under the lock. */
    boolean hasInboundConnection() {
        return responder.isConnected();
    }

    /** Whether the connection that this end opened has ended; under the lock. */
    boolean hasLostOutboundConnection() {
        return requester.isLost();
    }

    /** Since when; only after {@link #onBroken}. */
    long brokenSince() {
        return brokenSince.get();
    }

    /** Whether {@link #onBroken} is still of interest: nothing else has told of it by now. */
    boolean isSilentlyBroken() {
        boolean connected = switch (state) {
            case READY_TO_RECEIVE, READY_TO_SEND, SEND_QUEUE_DRAINED, SEND_QUEUE_ERROR -> true;
            case RESET, INIT, ERROR -> false;
        };
        return connected && !closed && brokenSince.get() != 0;
    }

    // ---- control path

    /** {@link Turns#locked}. */
    void locked(Runnable action) {
        turns.locked(action);
    }

    @Override
    public void modify(QueuePairAttributes attributes) {
        locked(() -> change(attributes));
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
                takeCommon(attributes);
                state = attributes.state();
            }
        }
        log.debug("{} {} -> {}", this, from, state);
    }

    private void takeCommon(QueuePairAttributes attributes) {
        if (attributes.mask().contains(QueuePairAttribute.ACCESS_FLAGS)) {
            accessBits = attributes.accessFlags();
        }
        if (attributes.mask().contains(QueuePairAttribute.MIN_RNR_TIMER)) {
            minRnrTimer = attributes.minRnrTimer();
        }
    }

    private void becomeReadyToReceive(QueuePairAttributes attributes) {
        AddressVector vector = attributes.addressVector();
        InetAddress address = Reachability.resolve(context.device(), vector.destination());
        takeCommon(attributes);
        peer = new Peer(
                vector.destination(),
                attributes.destinationNumber(),
                new InetSocketAddress(address, vector.destinationLid()));
        proofs = new ConnectionProofs(attributes.connectionKey());
        state = QueuePairStateCode.READY_TO_RECEIVE;
        responder.start(attributes.receivePsn(), attributes.maxDestinationReadAtomic());
    }

    private void becomeReadyToSend(QueuePairStateCode from, QueuePairAttributes attributes) {
        takeCommon(attributes);
        state = QueuePairStateCode.READY_TO_SEND;
        if (from == QueuePairStateCode.READY_TO_RECEIVE) {
            requester.start(
                    attributes.sendPsn(),
                    attributes.maxReadAtomic(),
                    Timing.retryNanos(attributes.timeout(), attributes.retryCount()),
                    attributes.rnrRetry());
        }
    }

    /** Ends both halves and flushes what is posted. */
    void enterError(String reason) {
        if (closed || state == QueuePairStateCode.ERROR) {
            return;
        }
        log.info("{} {} -> ERROR: {}", this, state, reason);
        state = QueuePairStateCode.ERROR;
        try {
            requester.stop();
        } finally {
            responder.stop(); // also where the other half met a lack of memory: nothing may reach what is flushed
        }
        responder.endWaiting();
        flush();
    }

    private void reset() {
        state = QueuePairStateCode.RESET;
        requester.reset();
        responder.reset();
        brokenSince.set(0);
    }

    @Override
    public void close() {
        boolean[] first = new boolean[1];
        locked(() -> first[0] = end());
        if (first[0]) {
            context.close(this, sendCompletions, receiveCompletions, protectionDomain);
            log.debug("{} closed", this);
        }
    }

    private boolean end() {
        if (closed) {
            return false;
        }
        closed = true;
        requester.reset();
        responder.reset();
        return true;
    }

    @Override
    public boolean awaitOpen(Duration timeout) {
        boolean[] open = new boolean[1];
        locked(() -> {
            turns.await(() -> !requester.isConnecting(), timeout.toNanos());
            open[0] = requester.isConnected();
        });
        return open[0];
    }

    /** The requester's connection is open, or will not be for now; under the lock. */
    void onOpened() {
        turns.change();
    }

    @Override
    public boolean mayStillReceive() {
        boolean[] may = new boolean[1];
        locked(() -> may[0] = !closed && state != QueuePairStateCode.ERROR && responder.mayStillReceive());
        return may[0];
    }

    // ---- for the two halves

    SoftwareDeviceContext context() {
        return context;
    }

    Attendant attendant() {
        return attendant;
    }

    MemoryRegions memoryRegions() {
        return context.memoryRegions();
    }

    SoftwareProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /** Whether long messages go in pieces by now; for tests, racy otherwise. */
    boolean hasLanes() {
        return requester.hasLanes();
    }

    /** How many messages are on their way on lanes; for tests, racy otherwise. */
    int onLanes() {
        return requester.onLanes();
    }

    boolean isClosed() {
        return closed;
    }

    boolean isReadyToSend() {
        return state == QueuePairStateCode.READY_TO_SEND && !closed;
    }

    boolean allows(AccessFlag flag) {
        return (accessBits & flag.bit()) != 0;
    }

    int minRnrTimer() {
        return minRnrTimer;
    }

    /** Tells {@link #postReceive} whether there is something to be done about it at once. */
    void setAwaitsReceive(boolean awaits) {
        awaitsReceive = awaits;
    }

    /** Only from READY_TO_RECEIVE on. */
    Peer peer() {
        Peer known = peer;
        if (known == null) {
            throw new IllegalStateException(this + " has no peer yet");
        }
        return known;
    }

    /** What the peer's connections have to prove, and this end's prove to the peer; under the lock. */
    ConnectionProofs proofs() {
        return proofs;
    }

    void completeSend(long workRequestId, int status, int opcode, int length) {
        sendCompletions.add(workRequestId, status, WireFormat.completionOpcode(opcode), length, 0, 0, number);
    }

    void completeReceive(long workRequestId, int status, int opcode, int byteLength, int immediate, int flags) {
        receiveCompletions.add(workRequestId, status, opcode, byteLength, immediate, flags, number);
    }

    @Override
    public String toString() {
        return "qp 0x%06x of %s".formatted(number, context.deviceName());
    }
}
