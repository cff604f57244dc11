package trigon.software.responder;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import trigon.software.connection.Timer;
import trigon.software.lanes.IncomingLanes;
import trigon.software.lanes.IncomingPieces;
import trigon.software.memory.OrderedCopy;
import trigon.software.memory.SoftwareMemoryRegion;
import trigon.software.queue.ReceiveQueue;
import trigon.software.wire.DeviceLimits;
import trigon.software.wire.WireFormat;
import trigon.verbs.AccessFlag;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * Carries out the peer's requests, one after the other: those that come on its connection, and the messages that come
 * in pieces on its lanes, in the order of their PSNs. Used under the queue pair's lock.
 */
final class IncomingRequests {

    /** A receive that comes later than that is a receiver's that was busy with something else. */
    private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final RespondingQueuePair queuePair;
    private final Responder responder;
    private final ReceiveQueue receives;
    private final IncomingPieces pieces;
    private final IncomingLanes lanes;
    private final OrderedCopy copy = new OrderedCopy();
    /** When the request began to wait for a receive. */
    private long waitingSince;

    private final Timer notReadyTimer;

    private int maxReadAtomic;
    /** Of the message that is to be finished next. */
    private int expectedPsn;

    // the request that came last on the connection, as long as it is not finished
    private int opcode;
    private int psn;
    private int length;
    private long address;
    private int key;
    private long operand;
    private boolean acknowledgeSoon;
    private boolean answered;
    /** Its sender waits for a receive without being told that there is none. */
    private boolean patient;

    private boolean underWay;
    private @Nullable SoftwareMemoryRegion target;
    private boolean waitsForReceive;
    /** Its turn comes after messages that come in pieces. */
    private boolean waitsForPieces;

    IncomingRequests(
            RespondingQueuePair queuePair,
            Responder responder,
            ReceiveQueue receives,
            IncomingPieces pieces,
            IncomingLanes lanes) {
        this.queuePair = queuePair;
        this.responder = responder;
        this.receives = receives;
        this.pieces = pieces;
        this.lanes = lanes;
        notReadyTimer = new Timer(queuePair.lock()::locked, this::sayNotReady);
    }

    // ---- life cycle

    /**
     * READY_TO_RECEIVE.
     *
     * @param receivePsn PSN of the peer's first request
     * @param maxDestinationReadAtomic how many READs of it may be outstanding
     */
    void start(int receivePsn, int maxDestinationReadAtomic) {
        expectedPsn = receivePsn;
        maxReadAtomic = maxDestinationReadAtomic;
    }

    /** The request that is under way is not carried on. */
    void drop() {
        underWay = false;
        target = null;
        stopWaiting();
    }

    /** The PSN of the message that is to be finished next. */
    int expectedPsn() {
        return expectedPsn;
    }

    // ---- requests

    /** Takes the header of a request and begins with it, or waits for its turn. */
    void onRequest(long at) {
        int named = WireFormat.requestOpcode(at);
        opcode = WireFormat.plainOpcode(named);
        acknowledgeSoon = (named & WireFormat.ACKNOWLEDGE_SOON) != 0;
        answered = (named & WireFormat.UNANSWERED) == 0;
        patient = (named & WireFormat.PATIENT) != 0;
        psn = WireFormat.requestPsn(at);
        length = WireFormat.requestLength(at);
        address = WireFormat.requestAddress(at);
        key = WireFormat.requestKey(at);
        operand = WireFormat.requestOperand(at);
        if ((named & WireFormat.WITH_TAIL) != 0) {
            peer().expectTail(length);
        }
        int distance = WireFormat.psnDistance(psn, expectedPsn);
        if (distance < 0 || length < 0 || length > DeviceLimits.MAX_MESSAGE_BYTES) {
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

    private void startSend() {
        if (receives.isEmpty()) {
            waitForReceive();
        } else if (length > receives.length()) {
            refuseSend(WorkCompletionStatus.LOCAL_LENGTH_ERROR);
        } else if (length == 0) {
            finishMessage();
        } else {
            target = queuePair.memory().local(receives.localKey(), receives.localAddress(), length, true);
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

    private @Nullable SoftwareMemoryRegion remoteRegion(int key, long address, long bytes, AccessFlag access) {
        return queuePair.memory().remote(key, address, bytes, access);
    }

    /** Completes the oldest receive as flushed. */
    void flushOldest() {
        completeReceive(WorkCompletionStatus.WR_FLUSHED.code(), WorkCompletionOpcode.RECEIVE, 0, 0, 0);
    }

    private void completeReceive(int status, int completionOpcode, int byteLength, int value, int flags) {
        long id = receives.workRequestId();
        receives.remove();
        queuePair.completeReceive(id, status, completionOpcode, byteLength, value, flags);
    }

    // ---- messages in pieces

    /** Finishes what has come in pieces, as far as its turn has come; and then what waits for it. */
    void finishPieces() {
        while (!underWay && !responder.isRefusing() && !receives.isEmpty() && hasPieces()) {
            long index = receives.head();
            lanes.setBusy(true);
            if (pieces.isRefused(index)) {
                psn = expectedPsn;
                refuseSend(WorkCompletionStatus.ofCode(pieces.status(index)));
                return;
            }
            int named = pieces.opcode(index);
            boolean immediate = WireFormat.plainOpcode(named) == WireFormat.SEND_WITH_IMMEDIATE;
            int bytes = pieces.length(index);
            int value = pieces.immediate(index);
            pieces.clear(index);
            completeReceive(
                    WorkCompletionStatus.SUCCESS_CODE,
                    WorkCompletionOpcode.RECEIVE,
                    bytes,
                    immediate ? value : 0,
                    immediate ? WorkCompletions.WITH_IMMEDIATE : 0);
            InboundConnection sender = responder.connection();
            if ((named & WireFormat.UNANSWERED) == 0 && sender != null) {
                sender.stream().acknowledge(expectedPsn, (named & WireFormat.ACKNOWLEDGE_SOON) != 0);
            }
            finish();
        }
        InboundConnection current = responder.connection();
        if (waitsForPieces && current != null && psn == expectedPsn) {
            waitsForPieces = false;
            lanes.setBusy(false);
            current.resume();
            begin();
        }
    }

    /** Whether the next message has come in pieces, all of them. */
    boolean hasPieces() {
        long index = receives.head();
        return pieces.isDone(index) && pieces.psn(index) == expectedPsn;
    }

    /** Whether the request that came last on the connection waits for messages that come in pieces. */
    boolean waitsForPieces() {
        return waitsForPieces;
    }

    // ---- receiver not ready

    private void waitForReceive() {
        waitsForReceive = true;
        waitingSince = queuePair.device().eventLoop().nanoTime();
        peer().pause();
        queuePair.setAwaitsReceive(true);
        if (!receives.isEmpty()) {
            goOn(); // just now
        } else if (answered && !patient) {
            sayNotReady();
        }
    }

    private void sayNotReady() {
        InboundConnection current = responder.connection();
        if (waitsForReceive && current != null) {
            current.stream().notReady(psn, queuePair.minRnrTimer());
            current.stream().ring();
            queuePair.device().eventLoop().schedule(notReadyTimer, WireFormat.NOT_READY_REPEAT_NANOS);
        }
    }

    /** What a request waits for may be there. */
    void goOnWaiting() {
        finishPieces();
        if (waitsForReceive && responder.connection() != null && !receives.isEmpty()) {
            goOn();
        }
    }

    private void goOn() {
        InboundConnection current = peer();
        stopWaiting();
        boolean saysReady = answered && !patient;
        if (!saysReady && queuePair.device().eventLoop().nanoTime() - waitingSince > LONG_NANOS) {
            responder.holdAcknowledgements();
        }
        if (saysReady) {
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
            queuePair.device().eventLoop().cancel(notReadyTimer);
        }
    }

    // ---- refusals

    private void refuseSend(WorkCompletionStatus status) {
        completeReceive(status.code(), WorkCompletionOpcode.RECEIVE, 0, 0, 0);
        boolean tooLong = status == WorkCompletionStatus.LOCAL_LENGTH_ERROR;
        refuse(tooLong ? WireFormat.REMOTE_INVALID_REQUEST : WireFormat.REMOTE_OPERATION);
    }

    private void refuse(int reason) {
        InboundConnection current = responder.connection();
        if (current == null) {
            queuePair.enterError("a request of a peer that is gone was refused"); // what is left on its lanes
            return;
        }
        current.stream().refuse(psn, reason);
        current.onRefused();
        current.stream().ring();
    }

    /** A refusal is on its way; nothing more is written. */
    void onRefused() {
        target = null;
    }

    private InboundConnection peer() {
        InboundConnection current = responder.connection();
        if (current == null) {
            throw new IllegalStateException("a request without a connection");
        }
        return current;
    }
}
