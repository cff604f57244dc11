package trigon.software.device;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.call.NativePair;
import trigon.software.call.Word;
import trigon.software.connection.DataConnection;
import trigon.software.connection.Movers;
import trigon.system.kernel.TcpEnds;
import trigon.verbs.NativePost;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.QueuePairStateCode;

/**
 * A queue pair of a software device, as who uses it sees it: posting to its two queues, changing its state, closing.
 * What becomes of it is up to its {@link QueuePairEngine}.
 */
final class SoftwareQueuePair implements QueuePair {

    /** {@code enum ibv_wr_opcode}. */
    private static final int WRITE = 0;

    private static final int WRITE_WITH_IMMEDIATE = 1;
    private static final int SEND = 2;
    private static final int SEND_WITH_IMMEDIATE = 3;

    private static final Logger log = LoggerFactory.getLogger(SoftwareQueuePair.class);

    private final Consumer<SoftwareQueuePair> whenClosed;
    private final Movers movers;
    private final Movers.@Nullable Mover mover;
    private final int inlineBytes;
    private final NativePair pair;
    private final QueuePairEngine engine;

    /**
     * A queue pair in RESET.
     *
     * @param whenClosed gives back what it used; called once
     */
    SoftwareQueuePair(
            SoftwareDeviceContext context,
            SoftwareProtectionDomain domain,
            int number,
            QueuePairCapacity capacity,
            Movers movers,
            Consumer<SoftwareQueuePair> whenClosed) {
        this.whenClosed = whenClosed;
        this.movers = movers;
        mover = movers.assign();
        inlineBytes = capacity.inlineBytes();
        SoftwareCompletionQueue sends = (SoftwareCompletionQueue) capacity.sendCompletions();
        SoftwareCompletionQueue receives = (SoftwareCompletionQueue) capacity.receiveCompletions();
        try {
            pair = new NativePair(
                    context.inC(),
                    domain.number(),
                    number,
                    capacity,
                    sends.inC(),
                    receives.inC(),
                    mover == null ? null : mover.thread());
        } catch (OutOfMemoryError e) {
            movers.release(mover);
            throw e;
        }
        engine =
                new QueuePairEngine(number, context.localDevice(), pair, sends, receives, () -> context.onBroken(this));
    }

    @Override
    public int number() {
        return engine.number();
    }

    @Override
    public int maxInlineBytes() {
        return inlineBytes;
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

    private int post(
            int opcode,
            long workRequestId,
            long localAddress,
            int length,
            int localKey,
            long remoteAddress,
            int remoteKey,
            int immediate,
            int sendFlags) {
        return pair.send(
                workRequestId,
                localAddress,
                both(length, localKey),
                remoteAddress,
                both(remoteKey, immediate),
                both(opcode, sendFlags));
    }

    private static long both(int high, int low) {
        return (long) high << Integer.SIZE | Integer.toUnsignedLong(low);
    }

    @Override
    public int postReceive(long workRequestId, long localAddress, int length, int localKey) {
        return pair.receive(workRequestId, localAddress, both(length, localKey));
    }

    @Override
    public int postEmptyReceives(int count) {
        int errno = 0;
        for (int i = 0; i < count && errno == 0; i++) {
            errno = postReceive(0, 0, 0, 0);
        }
        return errno;
    }

    @Override
    public Optional<NativePost> nativePost() {
        return Optional.of(pair.nativePost());
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
        pair.set(Word.PEER_HAS_ENDED, 1);
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
