package trigon.transport.session;

import trigon.nccl.NcclResult;
import trigon.system.Errno;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathLoss;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/** A session's words on what its devices report. For its end, or that of a path; not for the data path. */
final class FailureWords {

    private FailureWords() {}

    static String ofRequest(PathChannel on, WorkCompletionStatus status, WorkCompletions completions, int index) {
        return "work request 0x%x failed: %s (status %d, vendor error %d): %s"
                .formatted(
                        completions.workRequestId(index),
                        status,
                        completions.statusCode(index),
                        completions.vendorError(index),
                        on.failedRequests().why(status));
    }

    static String ofPoll(int result) {
        return "ibv_poll_cq failed with " + Errno.name(-result)
                + ": the completion queue or its device is unusable; see dmesg";
    }

    static NcclResult result(PathChannel failed, WorkCompletionStatus status) {
        PathLoss loss = failed.loss();
        if (status == WorkCompletionStatus.LOCAL_LENGTH_ERROR) {
            return NcclResult.INVALID_USAGE;
        }
        return loss == null ? NcclResult.REMOTE_ERROR : loss.result();
    }
}
