package trigon.software.device;

import static trigon.software.wire.WireFormat.SEND;
import static trigon.software.wire.WireFormat.SEND_WITH_IMMEDIATE;
import static trigon.software.wire.WireFormat.WRITE;
import static trigon.software.wire.WireFormat.WRITE_WITH_IMMEDIATE;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.connection.DataConnection;
import trigon.software.connection.Mover;
import trigon.software.connection.Movers;
import trigon.software.memory.ProtectedMemory;
import trigon.software.queue.ReceiveQueue;
import trigon.software.queue.SendQueue;
import trigon.software.wire.DeviceLimits;
import trigon.system.Errno;
import trigon.system.kernel.TcpEnds;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.SendFlag;

/**
 * A queue pair of a software device, as who uses it sees it: posting to its two queues, changing its state, closing.
 * What becomes of it is up to its {@link QueuePairEngine}.
 */
final class SoftwareQueuePair implements QueuePair {

    private static final Logger log = LoggerFactory.getLogger(SoftwareQueuePair.class);

    private final Consumer<SoftwareQueuePair> whenClosed;
    private final Movers movers;
    private final @Nullable Mover mover;
    private final SendQueue sendQueue;
    private final ReceiveQueue receiveQueue;
    private final QueuePairEngine engine;

    /**
     * A queue pair in RESET.
     *
     * @param whenClosed gives back what it used; called once
     */
    SoftwareQueuePair(
            SoftwareDeviceContext context,
            SoftwareProtectionDomain protectionDomain,
            int number,
            Queues queues,
            Movers movers,
            Consumer<SoftwareQueuePair> whenClosed) {
        this.whenClosed = whenClosed;
        this.movers = movers;
        mover = movers.assign();
        sendQueue = queues.sends();
        receiveQueue = queues.receives();
        engine = new QueuePairEngine(
                number,
                context.localDevice(),
                new ProtectedMemory(context.memoryRegions(), protectionDomain),
                queues,
                mover,
                () -> context.onBroken(this));
    }

    @Override
    public int number() {
        return engine.number();
    }

    @Override
    public int maxInlineBytes() {
        return sendQueue.inlineBytes();
    }

    @Override
    public QueuePairStateCode queryState() {
        return engine.state();
    }

    QueuePairEngine engine() {
        return engine;
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

    /** There is none: nobody asks a software device for it. */
    @Override
    public int postRead(
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int sendFlags) {
        return Errno.EOPNOTSUPP;
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
        QueuePairStateCode current = engine.state();
        boolean accepts = current == QueuePairStateCode.READY_TO_SEND || current == QueuePairStateCode.ERROR;
        if (!accepts || engine.isClosed() || length < 0 || length > DeviceLimits.MAX_MESSAGE_BYTES) {
            return Errno.EINVAL;
        }
        long source = localAddress;
        if ((sendFlags & SendFlag.INLINE) != 0) {
            if (length > sendQueue.inlineBytes()) {
                return Errno.EINVAL;
            }
            if (!sendQueue.findRoom()) {
                return Errno.ENOMEM;
            }
            source = sendQueue.copyInline(localAddress, length);
        }
        int result = sendQueue.offer(
                opcode, workRequestId, source, length, localKey, remoteAddress, remoteKey, operand, sendFlags);
        if (result == 0) {
            engine.lock().send();
        }
        return result;
    }

    @Override
    public int postReceive(long workRequestId, long localAddress, int length, int localKey) {
        if (engine.state() == QueuePairStateCode.RESET || engine.isClosed() || length < 0) {
            return Errno.EINVAL;
        }
        int result = receiveQueue.offer(workRequestId, localAddress, length, localKey);
        if (result == 0) {
            engine.onReceivePosted();
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

    // ---- control path

    @Override
    public void modify(QueuePairAttributes attributes) {
        engine.modify(attributes);
    }

    @Override
    public boolean awaitOpen(Duration timeout) {
        return engine.awaitOpen(timeout);
    }

    @Override
    public long delivered() {
        return engine.requester.delivered();
    }

    @Override
    public Optional<TcpEnds> connection() {
        AtomicReference<Optional<TcpEnds>> ends = new AtomicReference<>(Optional.empty());
        engine.lock().locked(() -> {
            DataConnection open = engine.requester.connection();
            if (open != null) {
                ends.set(open.ends());
            }
        });
        return ends.get();
    }

    @Override
    public void stopAcknowledging() {
        engine.stopAcknowledging();
    }

    @Override
    public boolean mayStillReceive() {
        return engine.mayStillReceive();
    }

    @Override
    public void close() {
        if (engine.close()) {
            movers.release(mover);
            whenClosed.accept(this);
            log.debug("{} closed", this);
        }
    }

    @Override
    public String toString() {
        return engine.toString();
    }
}
