package trigon.software.requester;

import trigon.software.wire.WireFormat;
import trigon.verbs.WorkCompletionStatus;

/**
 * Turns what the peer answers into completions: acknowledgements and refusals. Used under the queue pair's lock.
 */
final class IncomingResponses {

    private final RequestingQueuePair queuePair;
    private final Requester requester;
    private final OutstandingRequests outstanding;
    private final TimeLimits limits;

    IncomingResponses(
            RequestingQueuePair queuePair, Requester requester, OutstandingRequests outstanding, TimeLimits limits) {
        this.queuePair = queuePair;
        this.requester = requester;
        this.outstanding = outstanding;
        this.limits = limits;
    }

    /** Handles a response. */
    void onResponse(int kind, int detail, int psn) {
        switch (kind) {
            case WireFormat.ACK -> {
                limits.onReceiverReady();
                acknowledge(psn);
            }
            case WireFormat.NAK -> {
                if (acknowledge(psn - 1)) {
                    onRefusal(detail, psn);
                }
            }
            case WireFormat.RECEIVER_NOT_READY -> {
                if (acknowledge(psn - 1)) {
                    onReceiverNotReady(detail);
                }
            }
            default -> badResponse("of unknown kind " + kind);
        }
    }

    /** The peer has all requests up to that PSN. False if that is not possible, and the queue pair has failed. */
    private boolean acknowledge(int psn) {
        long head = outstanding.head();
        long end = head + WireFormat.psnDistance(psn, outstanding.psn(head)) + 1;
        if (end > requester.sent()) {
            return badResponse("acknowledges what was not sent");
        }
        requester.acknowledgeTo(end);
        return true;
    }

    private void onReceiverNotReady(int timerCode) {
        if (outstanding.isAnyBegun()) {
            limits.onReceiverNotReady(timerCode);
        } else {
            badResponse("waits for what was not sent");
        }
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
