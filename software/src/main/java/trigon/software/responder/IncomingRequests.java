package trigon.software.responder;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import trigon.software.memory.PayloadWindows;
import trigon.software.memory.ShortCopy;
import trigon.software.memory.SoftwareMemoryRegion;
import trigon.software.queue.ReceiveQueue;
import trigon.software.wire.DeviceLimits;
import trigon.software.wire.WireFormat;
import trigon.stream.loop.Timer;
import trigon.verbs.AccessFlag;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * Carries out the peer's requests, one after the other. Used under the queue pair's lock.
 */
final class IncomingRequests {

    /** A receive that comes later than that is a receiver's that was busy with something else. */
    private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final RespondingQueuePair queuePair;
    private final Responder responder;
    private final ReceiveQueue receives;
    private final PayloadWindows windows = new PayloadWindows();
    private final IncomingChecks checks = new IncomingChecks();
    /** When the request began to wait for a receive. */
    private long waitingSince;

    private final Timer notReadyTimer;

    /** PSN of the message that is to be finished next. */
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

    private @Nullable SoftwareMemoryRegion target;
    /** Address of the next byte of the payload. */
    private long destination;

    private boolean waitsForReceive;

    IncomingRequests(RespondingQueuePair queuePair, Responder responder, ReceiveQueue receives) {
        this.queuePair = queuePair;
        this.responder = responder;
        this.receives = receives;
        notReadyTimer = new Timer(queuePair.lock()::locked, this::sayNotReady);
    }

    // ---- life cycle

    /**
     * READY_TO_RECEIVE.
     *
     * @param receivePsn PSN of the peer's first request
     */
    void start(int receivePsn) {
        expectedPsn = receivePsn;
    }

    /** The request that is under way is not carried on. */
    void drop() {
        target = null;
        checks.reset();
        stopWaiting();
    }

    /** The PSN of the message that is to be finished next. */
    int expectedPsn() {
        return expectedPsn;
    }

    // ---- requests

    /** Takes the header of a request and begins with it, or waits for its turn. */
    void onRequest(long at) {
        if (!checks.begin(at)) {
            responder.onAltered("header");
            return;
        }
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
        if (psn != expectedPsn || length < 0 || length > DeviceLimits.MAX_MESSAGE_BYTES) {
            peer().reject("it broke the protocol on " + queuePair);
        } else {
            begin();
        }
    }

    private void begin() {
        switch (opcode) {
            case WireFormat.WRITE, WireFormat.WRITE_WITH_IMMEDIATE -> startWrite();
            case WireFormat.SEND, WireFormat.SEND_WITH_IMMEDIATE -> startSend();
            default -> refuse(WireFormat.REMOTE_INVALID_REQUEST);
        }
    }

    /** The request is carried out; the next one's turn has come. */
    private void finish() {
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
                destination = address;
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
                destination = receives.localAddress();
                peer().expectPayload(length);
            }
        }
    }

    void onPayload(long at, int bytes, boolean last) {
        if (!isTargetOpen()) {
            if (WireFormat.isSend(opcode)) {
                refuseSend(WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
            } else {
                refuse(WireFormat.REMOTE_ACCESS);
            }
            return;
        }
        ShortCopy.copy(at, destination, bytes);
        onPayloadInMemory(bytes, last);
    }

    private void onPayloadInMemory(int bytes, boolean last) {
        SoftwareMemoryRegion region = target;
        if (region != null && checks.isOfPayload()) {
            checks.add(windows.of(region, destination, bytes));
        }
        destination += bytes;
        if (last && checks.isPayloadRight()) {
            finishMessage();
        } else if (last) {
            responder.onAltered("payload");
        }
    }

    private boolean isTargetOpen() {
        SoftwareMemoryRegion region = target;
        return region != null && region.isOpen();
    }

    /** Null if that memory may not be touched, of which {@link #onPayload} hears then. */
    @Nullable
    ByteBuffer inPlace(int bytes) {
        SoftwareMemoryRegion region = target;
        return region == null || !region.isOpen()
                ? null
                : windows.of(region, destination, Math.min(bytes, PayloadWindows.MAX_BYTES));
    }

    void onPayloadInPlace(int bytes, boolean last) {
        onPayloadInMemory(bytes, last);
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

    /** Goes on with a request whose target may be there. */
    void goOnWaiting() {
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
            queuePair.enterError("a request of a peer that is gone was refused");
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
