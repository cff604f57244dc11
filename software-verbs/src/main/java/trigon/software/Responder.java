package trigon.software;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.verbs.AccessFlag;
import trigon.verbs.Memory;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * The receiving half of a queue pair: carries out the peer's requests, one after the other. Used under the queue pair's
 * lock.
 */
final class Responder {

    private static final Logger log = LoggerFactory.getLogger(Responder.class);

    /** Every so many turns it looks for requests, though responses are waited for. */
    private static final int TURNS_UNHEARD = 4;

    /** Lanes that a peer may open. */
    private static final int LANES_LIMIT = 64;

    /** Connections that may wait for the queue pair to become ready; one is the peer's. */
    private static final int WAITING_LIMIT = 8;

    private final SoftwareQueuePair queuePair;
    private final ReceiveQueue receives;
    private final OrderedCopy copy = new OrderedCopy();
    private final List<InboundConnection> waiting = new ArrayList<>();

    private @Nullable InboundConnection connection;
    private boolean started;
    private boolean refusing;
    private int expectedPsn;
    private int maxReadAtomic;

    /** Those that the peer has opened to this queue pair; replaced with every change, for those without the lock. */
    private volatile IncomingLane[] lanes = new IncomingLane[0];

    private final PieceCounts pieces = new PieceCounts();

    private int firstPsn;
    private boolean acknowledgeSoon;
    /** Turns since the requests were looked at. */
    private int turnsUnheard;

    private int opcode;
    private int psn;
    private int length;
    private long operand;
    private @Nullable SoftwareMemoryRegion target;
    private boolean waitsForReceive;
    private volatile boolean waitsForPieces;
    private volatile boolean lastCameInPieces; // the posting thread looks at it
    private final Timer notReadyTimer;

    Responder(SoftwareQueuePair queuePair, ReceiveQueue receives) {
        this.queuePair = queuePair;
        this.receives = receives;
        notReadyTimer = new Timer(queuePair::locked, this::sayNotReady);
    }

    SoftwareQueuePair queuePair() {
        return queuePair;
    }

    // ---- life cycle

    /** READY_TO_RECEIVE: takes the peer's connection, if it has come already. */
    void start(int receivePsn, int maxDestinationReadAtomic) {
        firstPsn = receivePsn;
        expectedPsn = receivePsn;
        pieces.clearAll();
        maxReadAtomic = maxDestinationReadAtomic;
        offerWaiting();
    }

    /**
     * A connection for this queue pair. It is taken, kept, or ended.
     *
     * <p>Until the first request, more than one can be right: after a RESET with the same numbers, a connection of the
     * time before may come in late. The dead one ends before its first request, and then the next is taken.
     */
    void offer(InboundConnection candidate) {
        if (queuePair.isClosed()) {
            candidate.decline(queuePair + " is closed");
            return;
        }
        switch (queuePair.queryState()) {
            case RESET, INIT -> keep(candidate);
            case READY_TO_RECEIVE, READY_TO_SEND, SEND_QUEUE_DRAINED, SEND_QUEUE_ERROR -> {
                if (started || !queuePair.peer().matches(candidate.hello(), expectedPsn)) {
                    candidate.reject("it is not the peer of " + queuePair);
                } else if (connection != null) {
                    keep(candidate);
                } else {
                    adopt(candidate);
                }
            }
            case ERROR -> candidate.decline(queuePair + " is in the error state");
        }
    }

    /** A connection that asks to be a lane. It is taken or ended. */
    void offerLane(InboundConnection candidate) {
        LaneWorkers workers = queuePair.context().laneWorkers();
        boolean isPeers = connection != null
                && candidate.hello().lane() <= LANES_LIMIT
                && lanes.length < LANES_LIMIT
                && queuePair.peer().matches(candidate.hello(), firstPsn);
        if (!isPeers) {
            candidate.reject("it is no lane of the peer of " + queuePair);
        } else if (workers.settings().workers() == 0) {
            candidate.decline("this process uses no lanes");
        } else {
            candidate.becomeLane(channel -> {
                LaneWorker worker = workers.nextForReceiving();
                IncomingLane lane = new IncomingLane(channel, queuePair, worker, pieces);
                worker.add(lane);
                IncomingLane[] more = Arrays.copyOf(lanes, lanes.length + 1);
                more[lanes.length] = lane;
                lanes = more;
                channel.write(ByteBuffer.allocate(1)); // the peer may use it
            });
        }
    }

    private void keep(InboundConnection candidate) {
        if (waiting.size() == WAITING_LIMIT) {
            candidate.reject("too many connections wait for " + queuePair);
        } else {
            candidate.keep();
            waiting.add(candidate);
        }
    }

    private void offerWaiting() {
        List<InboundConnection> candidates = List.copyOf(waiting);
        waiting.clear();
        candidates.forEach(this::offer);
    }

    private void adopt(InboundConnection peer) {
        try {
            peer.adoptedBy(this);
        } catch (OutOfMemoryError e) {
            peer.reject("there is no memory for its buffers: " + e.getMessage());
            return;
        }
        connection = peer;
        log.debug("{} is connected from {}", queuePair, peer.hello());
        queuePair.workLater(); // it may have said more already
        queuePair.arm();
    }

    /** Takes no more requests. Responses that need no memory still get out. */
    void stop() {
        InboundConnection current = connection;
        connection = null;
        if (current != null) {
            current.finish();
        }
        for (IncomingLane lane : lanes) {
            lane.worker().remove(lane);
        }
        lanes = new IncomingLane[0];
        target = null;
        stopWaiting();
    }

    /** Completes all receives that are left as flushed. */
    void flush() {
        while (!receives.isEmpty()) {
            completeReceive(WorkCompletionStatus.WR_FLUSHED.code(), WorkCompletionOpcode.RECEIVE, 0, 0, 0);
        }
    }

    /** RESET: forgets everything, without completions. */
    void reset() {
        stop();
        receives.clear();
        endWaiting();
        started = false;
        refusing = false;
    }

    void endWaiting() {
        List<InboundConnection> candidates = List.copyOf(waiting);
        waiting.clear();
        for (InboundConnection candidate : candidates) {
            candidate.decline(queuePair + " was closed or reset, or another is its peer");
        }
    }

    void onConnectionClosed(InboundConnection closed) {
        if (closed != connection) {
            return;
        }
        // as on an RDMA NIC, the receiving side does not notice that its peer is gone
        connection = null;
        target = null;
        stopWaiting();
        if (refusing) {
            queuePair.enterError("a request was refused");
        } else if (!started) {
            offerWaiting();
        }
    }

    // ---- the socket

    /**
     * Takes the requests that have come; seldom while a response is waited for instead, and no request is, which saves a
     * system call each time.
     */
    void receive(boolean awaitsResponse) {
        InboundConnection current = connection;
        if (current != null && (!awaitsResponse || !receives.isEmpty() || ++turnsUnheard >= TURNS_UNHEARD)) {
            turnsUnheard = 0;
            current.receive();
        }
    }

    /**
     * Sends the responses.
     *
     * @param all also an acknowledgement that could wait for more
     * @param now by {@link System#nanoTime}
     */
    void send(boolean all, long now) {
        InboundConnection current = connection;
        if (current == null) {
            return;
        }
        ResponseStream stream = current.stream();
        if (all || !stream.mayWait(now)) {
            stream.ring();
        }
        if (current.isRefusing() && stream.isIdle()) {
            queuePair.enterError("a request was refused");
        }
    }

    /** Has the attendant look after the connection. */
    void arm() {
        if (connection != null) {
            connection.arm();
        }
    }

    /** The attendant looks after the queue pair. */
    void disarm() {
        if (connection != null) {
            connection.disarm();
        }
    }

    // ---- requests

    void onRequest(long at) {
        if (!started) {
            started = true;
            endWaiting();
        }
        int named = WireFormat.requestOpcode(at);
        opcode = named & ~(WireFormat.IN_PIECES | WireFormat.ACKNOWLEDGE_SOON);
        boolean inPieces = (named & WireFormat.IN_PIECES) != 0;
        acknowledgeSoon = (named & WireFormat.ACKNOWLEDGE_SOON) != 0;
        lastCameInPieces = inPieces;
        psn = WireFormat.requestPsn(at);
        length = WireFormat.requestLength(at);
        operand = WireFormat.requestOperand(at);
        if (psn != expectedPsn || length < 0 || length > SoftwareDeviceContext.MAX_MESSAGE_BYTES) {
            peer().reject("it broke the protocol on " + queuePair);
            return;
        }
        expectedPsn = (expectedPsn + 1) & WireFormat.PSN_MASK;
        long address = WireFormat.requestAddress(at);
        int key = WireFormat.requestKey(at);
        switch (opcode) {
            case WireFormat.WRITE, WireFormat.WRITE_WITH_IMMEDIATE -> startWrite(address, key, inPieces);
            case WireFormat.SEND -> startSend();
            case WireFormat.READ -> read(address, key);
            case WireFormat.FETCH_AND_ADD -> fetchAndAdd(address, key);
            default -> refuse(WireFormat.REMOTE_INVALID_REQUEST);
        }
    }

    private void startWrite(long address, int key, boolean inPieces) {
        if (!queuePair.allows(AccessFlag.REMOTE_WRITE)) {
            refuse(WireFormat.REMOTE_INVALID_REQUEST);
        } else if (length == 0) {
            finishMessage();
        } else {
            target = remoteRegion(key, address, length, AccessFlag.REMOTE_WRITE);
            if (target == null) {
                refuse(WireFormat.REMOTE_ACCESS);
            } else if (inPieces) {
                waitsForPieces = true;
                peer().pause();
                onPieces();
            } else {
                copy.start(address, length);
                peer().expectPayload(length);
            }
        }
    }

    /**
     * A receive was posted, so a message is to be expected: if the last one came in pieces, the next one may. The posting
     * thread.
     */
    void expectPieces() {
        if (lastCameInPieces) {
            for (IncomingLane lane : lanes) {
                lane.worker().wake();
            }
        }
    }

    /** Whether the message that is waited for is there, or will never be. */
    boolean hasPieces() {
        if (!waitsForPieces) {
            return false;
        }
        int arrived = pieces.of(psn);
        return arrived < 0 || arrived == length;
    }

    /** Pieces may have arrived: the request that waits for them goes on. */
    private void onPieces() {
        if (!hasPieces() || connection == null) {
            return;
        }
        waitsForPieces = false;
        boolean refused = pieces.of(psn) < 0;
        pieces.clear(psn);
        connection.resume();
        if (refused) {
            refuse(WireFormat.REMOTE_ACCESS);
        } else {
            finishMessage();
        }
    }

    private void startSend() {
        if (receives.isEmpty()) {
            waitForReceive();
        } else if (length > receives.length()) {
            refuseSend(WorkCompletionStatus.LOCAL_LENGTH_ERROR, WireFormat.REMOTE_INVALID_REQUEST);
        } else if (length == 0) {
            finishMessage();
        } else {
            target = queuePair
                    .memoryRegions()
                    .local(queuePair.protectionDomain(), receives.localKey(), receives.localAddress(), length, true);
            if (target == null) {
                refuseSend(WorkCompletionStatus.LOCAL_PROTECTION_ERROR, WireFormat.REMOTE_OPERATION);
            } else {
                copy.start(receives.localAddress(), length);
                peer().expectPayload(length);
            }
        }
    }

    void onPayload(long at, int bytes, boolean last) {
        SoftwareMemoryRegion region = target;
        if (region == null || !region.isOpen()) {
            if (opcode == WireFormat.SEND) {
                refuseSend(WorkCompletionStatus.LOCAL_PROTECTION_ERROR, WireFormat.REMOTE_OPERATION);
            } else {
                refuse(WireFormat.REMOTE_ACCESS);
            }
            return;
        }
        copy.accept(at, bytes);
        if (last) {
            finishMessage();
        }
    }

    /** All of a WRITE or SEND is in memory. */
    private void finishMessage() {
        target = null;
        int success = WorkCompletionStatus.SUCCESS_CODE;
        if (opcode == WireFormat.SEND) {
            completeReceive(success, WorkCompletionOpcode.RECEIVE, length, 0, 0);
        } else if (opcode == WireFormat.WRITE_WITH_IMMEDIATE) {
            if (receives.isEmpty()) {
                waitForReceive();
                return;
            }
            completeReceive(
                    success,
                    WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE,
                    length,
                    (int) operand,
                    WorkCompletions.WITH_IMMEDIATE);
        }
        peer().stream().acknowledge(psn, acknowledgeSoon);
        if (opcode == WireFormat.WRITE) {
            queuePair.expectToSend();
        }
    }

    private void read(long address, int key) {
        SoftwareMemoryRegion source = length == 0 ? null : remoteRegion(key, address, length, AccessFlag.REMOTE_READ);
        if (!queuePair.allows(AccessFlag.REMOTE_READ) || !peer().stream().hasRoom(maxReadAtomic)) {
            refuse(WireFormat.REMOTE_INVALID_REQUEST);
        } else if (source == null && length > 0) {
            refuse(WireFormat.REMOTE_ACCESS);
        } else {
            peer().stream().readData(psn, source, address, length);
        }
    }

    private void fetchAndAdd(long address, int key) {
        boolean aligned = (address & (Long.BYTES - 1)) == 0;
        if (!queuePair.allows(AccessFlag.REMOTE_ATOMIC)
                || !aligned
                || !peer().stream().hasRoom(maxReadAtomic)) {
            refuse(WireFormat.REMOTE_INVALID_REQUEST);
        } else if (remoteRegion(key, address, Long.BYTES, AccessFlag.REMOTE_ATOMIC) == null) {
            refuse(WireFormat.REMOTE_ACCESS);
        } else {
            peer().stream().atomicResult(psn, Memory.getAndAddLong(address, operand));
        }
    }

    private @Nullable SoftwareMemoryRegion remoteRegion(int key, long address, long bytes, AccessFlag access) {
        return queuePair.memoryRegions().remote(queuePair.protectionDomain(), key, address, bytes, access);
    }

    private void completeReceive(int status, int completionOpcode, int byteLength, int value, int flags) {
        long id = receives.workRequestId();
        receives.remove();
        queuePair.completeReceive(id, status, completionOpcode, byteLength, value, flags);
    }

    // ---- receiver not ready

    private void waitForReceive() {
        waitsForReceive = true;
        peer().pause();
        queuePair.setAwaitsReceive(true);
        if (receives.isEmpty()) {
            sayNotReady();
        } else {
            goOn(); // just now
        }
    }

    private void sayNotReady() {
        InboundConnection current = connection;
        if (waitsForReceive && current != null) {
            current.stream().notReady(psn, queuePair.minRnrTimer());
            current.stream().ring();
            queuePair.attendant().schedule(notReadyTimer, Timing.NOT_READY_REPEAT_NANOS);
        }
    }

    /** What a request waits for may be there: it goes on, and then those after it. */
    void goOnWaiting() {
        onPieces();
        if (waitsForReceive && connection != null && !receives.isEmpty()) {
            goOn();
        }
        if (connection != null && connection.hasKept()) {
            connection.receive();
        }
    }

    private void goOn() {
        InboundConnection current = peer();
        stopWaiting();
        current.stream().acknowledge((psn - 1) & WireFormat.PSN_MASK, false);
        if (opcode == WireFormat.SEND) {
            startSend();
        } else {
            finishMessage();
        }
        current.resume();
    }

    private void stopWaiting() {
        waitsForReceive = false;
        waitsForPieces = false;
        queuePair.setAwaitsReceive(false);
        if (notReadyTimer.isScheduled()) {
            queuePair.attendant().cancel(notReadyTimer);
        }
    }

    // ---- refusals

    private void refuseSend(WorkCompletionStatus status, int reason) {
        completeReceive(status.code(), WorkCompletionOpcode.RECEIVE, 0, 0, 0);
        refuse(reason);
    }

    private void refuse(int reason) {
        InboundConnection current = peer();
        current.stream().refuse(psn, reason);
        current.onRefused();
        current.stream().ring();
    }

    /** A refusal is on its way; once it is out, the queue pair fails. */
    void onRefused() {
        refusing = true;
        target = null;
    }

    private InboundConnection peer() {
        InboundConnection current = connection;
        if (current == null) {
            throw new IllegalStateException("a request without a connection");
        }
        return current;
    }
}
