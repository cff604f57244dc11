package trigon.software;

import io.netty.util.concurrent.ScheduledFuture;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.verbs.AccessFlag;
import trigon.verbs.Memory;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * The receiving half of a queue pair: carries out the peer's requests, one after the other. Owned by the event loop.
 */
final class Responder {

    private static final Logger log = LoggerFactory.getLogger(Responder.class);

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

    private int opcode;
    private int psn;
    private int length;
    private long operand;
    private @Nullable SoftwareMemoryRegion target;
    private boolean waitsForReceive;
    private @Nullable ScheduledFuture<?> notReadyTimer;

    Responder(SoftwareQueuePair queuePair, ReceiveQueue receives) {
        this.queuePair = queuePair;
        this.receives = receives;
    }

    // ---- life cycle

    /** READY_TO_RECEIVE: takes the peer's connection, if it has come already. */
    void start(int receivePsn, int maxDestinationReadAtomic) {
        expectedPsn = receivePsn;
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

    private void keep(InboundConnection candidate) {
        if (waiting.size() == WAITING_LIMIT) {
            candidate.reject("too many connections wait for " + queuePair);
        } else {
            candidate.keptBy(this);
            waiting.add(candidate);
        }
    }

    private void offerWaiting() {
        List<InboundConnection> candidates = List.copyOf(waiting);
        waiting.clear();
        candidates.forEach(this::offer);
    }

    private void adopt(InboundConnection peer) {
        connection = peer;
        peer.adoptedBy(this);
        log.debug("{} is connected from {}", queuePair, peer.hello());
        peer.resume();
    }

    /** Takes no more requests. Responses that need no memory still get out. */
    void stop() {
        InboundConnection current = connection;
        connection = null;
        if (current != null) {
            current.finish();
        }
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

    void forget(InboundConnection candidate) {
        waiting.remove(candidate);
    }

    // ---- requests

    void onRequest(long at) {
        if (!started) {
            started = true;
            endWaiting();
        }
        opcode = WireFormat.requestOpcode(at);
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
            case WireFormat.WRITE, WireFormat.WRITE_WITH_IMMEDIATE -> startWrite(address, key);
            case WireFormat.SEND -> startSend();
            case WireFormat.READ -> read(address, key);
            case WireFormat.FETCH_AND_ADD -> fetchAndAdd(address, key);
            default -> refuse(WireFormat.REMOTE_INVALID_REQUEST);
        }
    }

    private void startWrite(long address, int key) {
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
        peer().stream().acknowledge(psn, length);
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
            onReceivePosted(); // just now
        }
    }

    private void sayNotReady() {
        InboundConnection current = connection;
        if (waitsForReceive && current != null) {
            current.stream().notReady(psn, queuePair.minRnrTimer());
            current.stream().ring();
            notReadyTimer =
                    queuePair.loop().schedule(this::sayNotReady, Timing.NOT_READY_REPEAT_NANOS, TimeUnit.NANOSECONDS);
        }
    }

    /** A receive may have been posted: the request that waits for one goes on. */
    void onReceivePosted() {
        InboundConnection current = connection;
        if (!waitsForReceive || current == null || receives.isEmpty()) {
            return;
        }
        stopWaiting();
        current.stream().acknowledge((psn - 1) & WireFormat.PSN_MASK, 0);
        if (opcode == WireFormat.SEND) {
            startSend();
        } else {
            finishMessage();
        }
        current.resume();
    }

    private void stopWaiting() {
        waitsForReceive = false;
        queuePair.setAwaitsReceive(false);
        if (notReadyTimer != null) {
            notReadyTimer.cancel(false);
            notReadyTimer = null;
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

    void onResponsesOut() {
        if (refusing) {
            queuePair.enterError("a request was refused");
        }
    }

    private InboundConnection peer() {
        InboundConnection current = connection;
        if (current == null) {
            throw new IllegalStateException("a request without a connection");
        }
        return current;
    }
}
