package trigon.software;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.verbs.AccessFlag;
import trigon.verbs.Memory;
import trigon.verbs.QueuePairStateCode;
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

    /** Connections that may wait for the queue pair to become ready; one is the peer's. */
    private static final int WAITING_LIMIT = 8;

    private final SoftwareQueuePair queuePair;
    private final ReceiveQueue receives;
    private final OrderedCopy copy = new OrderedCopy();
    private final List<InboundConnection> waiting = new ArrayList<>();

    private volatile @Nullable InboundConnection connection; // others may ask whether there is one
    private boolean started;
    private boolean refusing;
    private int maxReadAtomic;

    private final IncomingPieces pieces;
    private final IncomingLanes lanes;

    private int firstPsn;
    /** Of the message that is to be finished next. */
    private int expectedPsn;

    /** Turns since the requests were looked at. */
    private int turnsUnheard;

    // the request that came last on the connection, as long as it is not finished
    private int opcode;
    private int psn;
    private int length;
    private long address;
    private int key;
    private long operand;
    private boolean acknowledgeSoon;
    private boolean answered;
    private boolean underWay;
    private @Nullable SoftwareMemoryRegion target;
    private boolean waitsForReceive;
    /** Its turn comes after messages that come in pieces. */
    private boolean waitsForPieces;

    private final Timer notReadyTimer;

    Responder(SoftwareQueuePair queuePair, ReceiveQueue receives) {
        this.queuePair = queuePair;
        this.receives = receives;
        pieces = new IncomingPieces(receives);
        lanes = new IncomingLanes(queuePair, receives, pieces);
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
        pieces.start();
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
                } else if (!candidate.isProven(queuePair.proofs())) {
                    rejectUnproven(candidate);
                } else if (connection != null) {
                    keep(candidate);
                } else {
                    adopt(candidate);
                }
            }
            case ERROR -> candidate.decline(queuePair + " is in the error state");
        }
    }

    /** A connection that asks to be a lane. It is taken, kept, or ended. */
    void offerLane(InboundConnection candidate) {
        if (queuePair.isClosed() || queuePair.queryState() == QueuePairStateCode.ERROR) {
            candidate.decline(queuePair + " is closed, or in the error state");
        } else if (connection == null && !started) {
            keep(candidate); // it has overtaken the connection of the requests
        } else if (connection == null || !queuePair.peer().matches(candidate.hello(), firstPsn)) {
            candidate.reject("it is no lane of the peer of " + queuePair);
        } else if (!candidate.isProven(queuePair.proofs())) {
            rejectUnproven(candidate);
        } else {
            lanes.offer(candidate);
        }
    }

    private void rejectUnproven(InboundConnection candidate) {
        candidate.reject(
                queuePair.proofs().areAskedFor()
                        ? "it does not know the key of the connection of " + queuePair + ", so it is not the peer"
                        : "it has a key for the connection of " + queuePair + ", which has none");
    }

    private void keep(InboundConnection candidate) {
        candidate.keep();
        waiting.add(candidate);
        if (waiting.size() > WAITING_LIMIT) {
            InboundConnection last = newestOfTheBusiest();
            waiting.remove(last);
            last.reject("too many connections wait for " + queuePair);
        }
    }

    /** Of those that wait: strangers from elsewhere do not take the peer's place, though nobody knows yet who is who. */
    private InboundConnection newestOfTheBusiest() {
        Map<InetAddress, Long> counts =
                waiting.stream().collect(Collectors.groupingBy(InboundConnection::address, Collectors.counting()));
        long most = Collections.max(counts.values());
        return waiting.reversed().stream()
                .filter(one -> counts.getOrDefault(one.address(), 0L) == most)
                .findFirst()
                .orElseThrow();
    }

    private void offerWaiting() {
        List<InboundConnection> candidates = List.copyOf(waiting);
        waiting.clear();
        for (InboundConnection candidate : candidates) {
            if (candidate.hello().isLane()) {
                offerLane(candidate);
            } else {
                offer(candidate);
            }
        }
    }

    private void adopt(InboundConnection peer) {
        try {
            peer.adoptedBy(this);
            peer.accept(queuePair.proofs());
        } catch (OutOfMemoryError e) {
            peer.reject("there is no memory for its buffers: " + e.getMessage());
            return;
        } catch (IOException e) {
            peer.decline("it cannot be told that it is taken: " + e.getMessage());
            return;
        }
        connection = peer;
        log.debug("{} is connected from {}", queuePair, peer.hello());
        offerWaiting();
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
        lanes.stop();
        dropRequest();
    }

    private void dropRequest() {
        underWay = false;
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
        dropRequest();
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
        opcode = WireFormat.plainOpcode(named);
        acknowledgeSoon = (named & WireFormat.ACKNOWLEDGE_SOON) != 0;
        answered = (named & WireFormat.UNANSWERED) == 0;
        psn = WireFormat.requestPsn(at);
        length = WireFormat.requestLength(at);
        address = WireFormat.requestAddress(at);
        key = WireFormat.requestKey(at);
        operand = WireFormat.requestOperand(at);
        int distance = WireFormat.psnDistance(psn, expectedPsn);
        if (distance < 0 || length < 0 || length > SoftwareDeviceContext.MAX_MESSAGE_BYTES) {
            peer().reject("it broke the protocol on " + queuePair);
        } else if (distance > 0) {
            waitsForPieces = true;
            peer().pause();
        } else {
            lanes.setBusy(false);
            begin();
        }
    }

    private void begin() {
        underWay = true;
        switch (opcode) {
            case WireFormat.WRITE, WireFormat.WRITE_WITH_IMMEDIATE -> startWrite();
            case WireFormat.SEND, WireFormat.SEND_WITH_IMMEDIATE -> startSend();
            case WireFormat.READ -> read();
            case WireFormat.FETCH_AND_ADD -> fetchAndAdd();
            default -> refuse(WireFormat.REMOTE_INVALID_REQUEST);
        }
    }

    /** The request is carried out; the next one's turn has come. */
    private void finish() {
        underWay = false;
        expectedPsn = (expectedPsn + 1) & WireFormat.PSN_MASK;
    }

    private void startWrite() {
        if (!queuePair.allows(AccessFlag.REMOTE_WRITE)) {
            refuse(WireFormat.REMOTE_INVALID_REQUEST);
        } else if (length == 0) {
            finishMessage();
        } else {
            target = remoteRegion(key, address, length, AccessFlag.REMOTE_WRITE);
            if (target == null) {
                refuse(WireFormat.REMOTE_ACCESS);
            } else {
                copy.start(address, length);
                peer().expectPayload(length);
            }
        }
    }

    /** A receive was posted. The posting thread. */
    void onReceivePosted() {
        lanes.onReceivePosted();
    }

    /** Finishes what has come in pieces, as far as its turn has come; and then what waits for it. */
    private void finishPieces() {
        while (!underWay && !refusing && !receives.isEmpty() && hasPieces()) {
            long index = receives.head();
            lanes.setBusy(true);
            if (pieces.isRefused(index)) {
                psn = expectedPsn;
                refuseSend(WorkCompletionStatus.ofCode(pieces.status(index)));
                return;
            }
            boolean immediate = WireFormat.plainOpcode(pieces.opcode(index)) == WireFormat.SEND_WITH_IMMEDIATE;
            int bytes = pieces.length(index);
            int value = pieces.immediate(index);
            pieces.clear(index);
            completeReceive(
                    WorkCompletionStatus.SUCCESS_CODE,
                    WorkCompletionOpcode.RECEIVE,
                    bytes,
                    immediate ? value : 0,
                    immediate ? WorkCompletions.WITH_IMMEDIATE : 0);
            finish();
        }
        InboundConnection current = connection;
        if (waitsForPieces && current != null && psn == expectedPsn) {
            waitsForPieces = false;
            current.resume();
            begin();
        }
    }

    private boolean hasPieces() {
        long index = receives.head();
        return pieces.isDone(index) && pieces.psn(index) == expectedPsn;
    }

    /**
     * Whether the next message may still come from a peer that is gone: it has sent it before. Without that one, those
     * after it are of no use, though they may wait on their connections for ever.
     */
    boolean mayStillReceive() {
        finishPieces();
        boolean mayCome = (connection != null && !waitsForPieces) || lanes.mayBring(expectedPsn);
        return mayCome || hasPieces(); // the last has come just now
    }

    private void startSend() {
        if (receives.isEmpty()) {
            waitForReceive();
        } else if (length > receives.length()) {
            refuseSend(WorkCompletionStatus.LOCAL_LENGTH_ERROR);
        } else if (length == 0) {
            finishMessage();
        } else {
            target = queuePair
                    .memoryRegions()
                    .local(queuePair.protectionDomain(), receives.localKey(), receives.localAddress(), length, true);
            if (target == null) {
                refuseSend(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
            } else {
                copy.start(receives.localAddress(), length);
                peer().expectPayload(length);
            }
        }
    }

    void onPayload(long at, int bytes, boolean last) {
        SoftwareMemoryRegion region = target;
        if (region == null || !region.isOpen()) {
            if (WireFormat.isSend(opcode)) {
                refuseSend(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
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
        int value = (int) operand;
        int valued = WorkCompletions.WITH_IMMEDIATE;
        switch (opcode) {
            case WireFormat.SEND -> completeReceive(success, WorkCompletionOpcode.RECEIVE, length, 0, 0);
            case WireFormat.SEND_WITH_IMMEDIATE ->
                completeReceive(success, WorkCompletionOpcode.RECEIVE, length, value, valued);
            case WireFormat.WRITE_WITH_IMMEDIATE -> {
                if (receives.isEmpty()) {
                    waitForReceive();
                    return;
                }
                int kind = WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE;
                completeReceive(success, kind, length, value, valued);
            }
            default -> {}
        }
        if (answered) {
            peer().stream().acknowledge(psn, acknowledgeSoon);
        }
        finish();
    }

    private void read() {
        SoftwareMemoryRegion source = length == 0 ? null : remoteRegion(key, address, length, AccessFlag.REMOTE_READ);
        if (!queuePair.allows(AccessFlag.REMOTE_READ) || !peer().stream().hasRoom(maxReadAtomic)) {
            refuse(WireFormat.REMOTE_INVALID_REQUEST);
        } else if (source == null && length > 0) {
            refuse(WireFormat.REMOTE_ACCESS);
        } else {
            peer().stream().readData(psn, source, address, length);
            finish();
        }
    }

    private void fetchAndAdd() {
        boolean aligned = (address & (Long.BYTES - 1)) == 0;
        if (!queuePair.allows(AccessFlag.REMOTE_ATOMIC)
                || !aligned
                || !peer().stream().hasRoom(maxReadAtomic)) {
            refuse(WireFormat.REMOTE_INVALID_REQUEST);
        } else if (remoteRegion(key, address, Long.BYTES, AccessFlag.REMOTE_ATOMIC) == null) {
            refuse(WireFormat.REMOTE_ACCESS);
        } else {
            peer().stream().atomicResult(psn, Memory.getAndAddLong(address, operand));
            finish();
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
        if (!receives.isEmpty()) {
            goOn(); // just now
        } else if (answered) {
            sayNotReady();
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
        finishPieces();
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
        if (answered) {
            current.stream().acknowledge((psn - 1) & WireFormat.PSN_MASK, false);
        }
        if (WireFormat.isSend(opcode)) {
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

    private void refuseSend(WorkCompletionStatus status) {
        completeReceive(status.code(), WorkCompletionOpcode.RECEIVE, 0, 0, 0);
        boolean tooLong = status == WorkCompletionStatus.LOCAL_LENGTH_ERROR;
        refuse(tooLong ? WireFormat.REMOTE_INVALID_REQUEST : WireFormat.REMOTE_OPERATION);
    }

    private void refuse(int reason) {
        InboundConnection current = connection;
        if (current == null) {
            queuePair.enterError("a request of a peer that is gone was refused"); // what is left on its lanes
            return;
        }
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
