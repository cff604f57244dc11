package trigon.software;

import static trigon.software.WireFormat.FETCH_AND_ADD;
import static trigon.software.WireFormat.READ;
import static trigon.software.WireFormat.SEND;
import static trigon.software.WireFormat.WRITE;
import static trigon.software.WireFormat.WRITE_WITH_IMMEDIATE;

import io.netty.channel.EventLoop;
import java.net.InetAddress;
import java.net.InetSocketAddress;
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
 * {@link Responder}. The post methods run on the posting threads; everything else on the event loop that it was dealt
 * to, which also has both of its connections.
 */
final class SoftwareQueuePair implements QueuePair, PostedWork {

    private static final Logger log = LoggerFactory.getLogger(SoftwareQueuePair.class);

    private final SoftwareDeviceContext context;
    private final DeviceThread thread;
    private final SoftwareProtectionDomain protectionDomain;
    private final int number;
    private final SoftwareCompletionQueue sendCompletions;
    private final SoftwareCompletionQueue receiveCompletions;
    private final SendQueue sendQueue;
    private final ReceiveQueue receiveQueue;
    private final Requester requester;
    private final Responder responder;

    private volatile QueuePairStateCode state = QueuePairStateCode.RESET;
    private volatile boolean awaitsReceive;
    private volatile boolean closed;

    // owned by the event loop: what {@link #work} has seen, and whether it has been asked for again
    private final PaddedIndex tailSeen = new PaddedIndex();
    private boolean workDue;

    // set on the way to READY_TO_SEND; owned by the event loop
    private int accessBits;
    private int minRnrTimer;
    private @Nullable Peer peer;

    SoftwareQueuePair(
            SoftwareDeviceContext context,
            DeviceThread thread,
            SoftwareProtectionDomain protectionDomain,
            int number,
            SoftwareCompletionQueue sendCompletions,
            SoftwareCompletionQueue receiveCompletions,
            QueuePairCapacity capacity) {
        this.context = context;
        this.thread = thread;
        this.protectionDomain = protectionDomain;
        this.number = number;
        this.sendCompletions = sendCompletions;
        this.receiveCompletions = receiveCompletions;
        sendQueue = new SendQueue(capacity.sendWorkRequests(), capacity.inlineBytes());
        receiveQueue = new ReceiveQueue(capacity.receiveWorkRequests());
        requester = new Requester(this, sendQueue);
        responder = new Responder(this, receiveQueue);
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
            thread.signal();
        }
        return result;
    }

    @Override
    public int postReceive(long workRequestId, long localAddress, int length, int localKey) {
        if (state == QueuePairStateCode.RESET || closed || length < 0) {
            return Errno.EINVAL;
        }
        int result = receiveQueue.offer(workRequestId, localAddress, length, localKey);
        if (result == 0 && (awaitsReceive || state == QueuePairStateCode.ERROR)) {
            thread.signal();
        }
        return result;
    }

    // ---- the event loop, at the start of a turn

    @Override
    public boolean hasPosted() {
        return workDue
                || sendQueue.tail() != tailSeen.get()
                || ((awaitsReceive || state == QueuePairStateCode.ERROR) && !receiveQueue.isEmpty());
    }

    /** Has {@link #work} run once more, after what is going on now. */
    void workLater() {
        workDue = true;
    }

    @Override
    public void work() {
        workDue = false;
        tailSeen.setRelease(sendQueue.tail());
        try {
            workOff();
        } catch (RuntimeException e) {
            log.warn("{} fails, which is a defect of the software device", this, e);
            enterError("a defect: " + e);
        }
    }

    private void workOff() {
        if (closed) {
            return;
        }
        if (state == QueuePairStateCode.READY_TO_SEND) {
            requester.work();
        }
        if (state == QueuePairStateCode.ERROR) {
            flush();
        } else {
            responder.onReceivePosted();
        }
    }

    private void flush() {
        requester.flush();
        responder.flush();
    }

    // ---- control path

    @Override
    public void modify(QueuePairAttributes attributes) {
        thread.run(() -> change(attributes));
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
        requester.stop();
        responder.stop();
        responder.endWaiting();
        flush();
    }

    private void reset() {
        state = QueuePairStateCode.RESET;
        requester.reset();
        responder.reset();
    }

    @Override
    public void close() {
        boolean first = thread.call(this::end);
        if (first) {
            context.control().run(this::giveBack);
        }
    }

    private boolean end() {
        if (closed) {
            return false;
        }
        closed = true;
        requester.reset();
        responder.reset();
        thread.detach(this);
        return true;
    }

    /** The control thread. */
    private void giveBack() {
        sendCompletions.detach(this);
        receiveCompletions.detach(this);
        protectionDomain.released();
        context.closed(this);
        log.debug("{} closed", this);
    }

    // ---- for the two halves

    SoftwareDeviceContext context() {
        return context;
    }

    DeviceThread thread() {
        return thread;
    }

    EventLoop loop() {
        return thread.loop();
    }

    MemoryRegions memoryRegions() {
        return context.memoryRegions();
    }

    SoftwareProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    Responder responder() {
        return responder;
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

    /** Tells {@link #postReceive} whether the event loop is to be woken. */
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
