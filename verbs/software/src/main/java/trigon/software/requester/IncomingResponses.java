package trigon.software.requester;

import org.jspecify.annotations.Nullable;
import trigon.software.memory.SoftwareMemoryRegion;
import trigon.software.queue.SendQueue;
import trigon.software.wire.WireFormat;
import trigon.verbs.WorkCompletionStatus;

/**
 * Turns what the peer answers into completions: acknowledgements, refusals, the data of READs and the results of
 * atomics. Used under the queue pair's lock.
 */
final class IncomingResponses {

    private final RequestingQueuePair queuePair;
    private final Requester requester;
    private final SendQueue queue;
    private final OutstandingRequests outstanding;
    private final TimeLimits limits;
    private final ReadTarget readTarget = new ReadTarget();

    IncomingResponses(
            RequestingQueuePair queuePair,
            Requester requester,
            SendQueue queue,
            OutstandingRequests outstanding,
            TimeLimits limits) {
        this.queuePair = queuePair;
        this.requester = requester;
        this.queue = queue;
        this.outstanding = outstanding;
        this.limits = limits;
    }

    /** No more data are taken. */
    void stop() {
        readTarget.clear();
    }

    /** Handles a response; returns how many bytes of payload follow it. */
    int onResponse(int kind, int detail, int psn, long value) {
        switch (kind) {
            case WireFormat.ACK -> {
                limits.onReceiverReady();
                acknowledge(psn, false);
            }
            case WireFormat.NAK -> {
                if (acknowledge(psn - 1, true)) {
                    onRefusal(detail, psn);
                }
            }
            case WireFormat.RECEIVER_NOT_READY -> {
                if (acknowledge(psn - 1, false)) {
                    onReceiverNotReady(detail);
                }
            }
            case WireFormat.READ_DATA -> {
                if (acknowledge(psn - 1, false)) {
                    return startReadData(psn, value);
                }
            }
            default -> badResponse("of unknown kind " + kind);
        }
        return 0;
    }

    /**
     * The peer has all requests up to that PSN. False if that is not possible, and the queue pair has failed.
     *
     * @param refusing the next is refused. Then those before it may be complete there, though the lanes have not said
     *     yet that they are sent
     */
    private boolean acknowledge(int psn, boolean refusing) {
        long head = outstanding.head();
        long end = head + WireFormat.psnDistance(psn, outstanding.psn(head)) + 1;
        if (end > requester.sent()) {
            return badResponse("acknowledges what was not sent");
        }
        for (long index = head; index < end; index++) {
            if (outstanding.isRead(index)) {
                return badResponse("passes over a READ");
            }
        }
        requester.acknowledgeTo(end);
        while (refusing && outstanding.head() < end) {
            requester.complete(WorkCompletionStatus.SUCCESS);
        }
        return true;
    }

    private void onReceiverNotReady(int timerCode) {
        if (outstanding.isAnyBegun()) {
            limits.onReceiverNotReady(timerCode);
        } else {
            badResponse("waits for what was not sent");
        }
    }

    // ---- READs

    /** Begins, or goes on with, the data of the oldest request. */
    private int startReadData(int psn, long bytes) {
        long index = outstanding.head();
        long total = queue.length(index);
        if (!isOldest(WireFormat.READ, psn) || bytes < 0 || bytes > total - readTarget.offset()) {
            badResponse("is not the data of the oldest READ");
            return 0;
        }
        if (readTarget.isAtStart() && total > 0) {
            SoftwareMemoryRegion region = target(index);
            if (region == null) {
                failRead();
                return 0;
            }
            readTarget.start(region, queue.localAddress(index), total);
        }
        if (bytes == 0) {
            finishReadData();
        }
        return (int) bytes;
    }

    void onReadData(long at, int bytes, boolean lastOfResponse) {
        if (!readTarget.accept(at, bytes)) {
            failRead();
        } else if (lastOfResponse) {
            finishReadData();
        }
    }

    private void finishReadData() {
        if (readTarget.offset() == queue.length(outstanding.head())) {
            readTarget.clear();
            requester.complete(WorkCompletionStatus.SUCCESS);
        }
    }

    private boolean isOldest(int opcode, int psn) {
        long index = outstanding.head();
        return outstanding.isAnyBegun() && queue.opcode(index) == opcode && outstanding.psn(index) == psn;
    }

    private @Nullable SoftwareMemoryRegion target(long index) {
        return queuePair.memory().local(queue.localKey(index), queue.localAddress(index), queue.length(index), true);
    }

    private void failRead() {
        requester.fail(WorkCompletionStatus.LOCAL_PROTECTION_ERROR, "the target of a READ was deregistered");
    }

    // ---- failures

    private void onRefusal(int reason, int psn) {
        if (WireFormat.psnDistance(psn, outstanding.psn(outstanding.head())) < 0) {
            queuePair.enterError("the peer refused a SEND that was complete already");
            return;
        }
        if (!outstanding.isAnyBegun()) {
            badResponse("refuses what was not sent");
            return;
        }
        WorkCompletionStatus status = switch (reason) {
            case WireFormat.REMOTE_ACCESS -> WorkCompletionStatus.REMOTE_ACCESS_ERROR;
            case WireFormat.REMOTE_INVALID_REQUEST -> WorkCompletionStatus.REMOTE_INVALID_REQUEST;
            default -> WorkCompletionStatus.REMOTE_OPERATION_ERROR;
        };
        requester.fail(status, "the peer refused a request");
    }

    private boolean badResponse(String what) {
        requester.fail(WorkCompletionStatus.BAD_RESPONSE, "a response of the peer " + what);
        return false;
    }
}
