package trigon.verbs;

/** Outcome of a work request ({@code enum ibv_wc_status}), with what usually causes it and what to do about it. */
public enum WorkCompletionStatus {
    SUCCESS(0, ""),
    LOCAL_LENGTH_ERROR(1, "a message was longer than the receive buffer or the port's limit"),
    LOCAL_QP_OPERATION_ERROR(2, "the request is malformed, or the port went down; look at the link's state"),
    LOCAL_EEC_OPERATION_ERROR(3, "internal end-to-end context error"),
    LOCAL_PROTECTION_ERROR(4, "the local memory is not registered, or was deregistered while in use"),
    WR_FLUSHED(5, "the queue pair was in the error state already; look for the first error"),
    MEMORY_WINDOW_BIND_ERROR(6, "a memory window could not be bound"),
    BAD_RESPONSE(7, "the peer answered with an unexpected packet"),
    LOCAL_ACCESS_ERROR(8, "a protection error on the local receive buffer"),
    REMOTE_INVALID_REQUEST(9, "the peer refused the request as invalid: wrong length or no receive for it"),
    REMOTE_ACCESS_ERROR(10, "the peer's memory is not registered for this access, or was deregistered"),
    REMOTE_OPERATION_ERROR(11, "the peer could not complete the request"),
    RETRY_EXCEEDED(12, "the peer did not answer: its process died, or the link is cut; check the cable and the peer"),
    RNR_RETRY_EXCEEDED(13, "the peer posted no receive in time"),
    LOCAL_RDD_VIOLATION(14, "reliable datagram domain mismatch"),
    REMOTE_INVALID_RD_REQUEST(15, "the peer refused a reliable datagram request"),
    REMOTE_ABORTED(16, "the peer aborted the operation"),
    INVALID_EEC_NUMBER(17, "invalid end-to-end context number"),
    INVALID_EEC_STATE(18, "invalid end-to-end context state"),
    FATAL(19, "the device failed"),
    RESPONSE_TIMEOUT(20, "the response timed out"),
    GENERAL_ERROR(21, "the device reported an error without a reason"),
    UNKNOWN(-1, "an unknown status code");

    /** The code of success, for the data path. */
    public static final int SUCCESS_CODE = 0;

    private final int code;
    private final String explanation;

    WorkCompletionStatus(int code, String explanation) {
        this.code = code;
        this.explanation = explanation;
    }

    /** The value in {@code enum ibv_wc_status}. */
    public int code() {
        return code;
    }

    /**
     * Returns whether the connection may be what has failed, or a device, so that the same may succeed over another
     * one. Not so where either end was asked for what it must not do.
     */
    public boolean isOfPath() {
        return switch (this) {
            case LOCAL_QP_OPERATION_ERROR,
                    WR_FLUSHED,
                    REMOTE_OPERATION_ERROR,
                    RETRY_EXCEEDED,
                    REMOTE_ABORTED,
                    FATAL,
                    RESPONSE_TIMEOUT,
                    GENERAL_ERROR -> true;
            case SUCCESS,
                    LOCAL_LENGTH_ERROR,
                    LOCAL_EEC_OPERATION_ERROR,
                    LOCAL_PROTECTION_ERROR,
                    MEMORY_WINDOW_BIND_ERROR,
                    BAD_RESPONSE,
                    LOCAL_ACCESS_ERROR,
                    REMOTE_INVALID_REQUEST,
                    REMOTE_ACCESS_ERROR,
                    RNR_RETRY_EXCEEDED,
                    LOCAL_RDD_VIOLATION,
                    REMOTE_INVALID_RD_REQUEST,
                    INVALID_EEC_NUMBER,
                    INVALID_EEC_STATE,
                    UNKNOWN -> false;
        };
    }

    /** Its usual cause, for an error message. */
    public String explanation() {
        return explanation;
    }

    /** The status of that {@code enum ibv_wc_status} value, or UNKNOWN. */
    public static WorkCompletionStatus ofCode(int code) {
        for (WorkCompletionStatus status : values()) {
            if (status.code == code) {
                return status;
            }
        }
        return UNKNOWN;
    }
}
