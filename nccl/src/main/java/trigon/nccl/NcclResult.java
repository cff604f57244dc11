package trigon.nccl;

/** NCCL's result codes ({@code ncclResult_t} in {@code nccl.h}). */
public enum NcclResult {
    SUCCESS(0),
    UNHANDLED_CUDA_ERROR(1),
    SYSTEM_ERROR(2),
    INTERNAL_ERROR(3),
    INVALID_ARGUMENT(4),
    INVALID_USAGE(5),
    REMOTE_ERROR(6),
    IN_PROGRESS(7);

    private final int code;

    NcclResult(int code) {
        this.code = code;
    }

    /** The value in {@code ncclResult_t}. */
    public int code() {
        return code;
    }
}
