package trigon.verbs;

/** The states of a queue pair as the device knows them ({@code enum ibv_qp_state}). */
public enum QueuePairStateCode {
    RESET(0),
    INIT(1),
    READY_TO_RECEIVE(2),
    READY_TO_SEND(3),
    SEND_QUEUE_DRAINED(4),
    SEND_QUEUE_ERROR(5),
    ERROR(6);

    private final int code;

    QueuePairStateCode(int code) {
        this.code = code;
    }

    /** The value in {@code enum ibv_qp_state}. */
    public int code() {
        return code;
    }

    /** The state of that {@code enum ibv_qp_state} value. */
    public static QueuePairStateCode ofCode(int code) {
        for (QueuePairStateCode state : values()) {
            if (state.code == code) {
                return state;
            }
        }
        throw new IllegalArgumentException("no ibv_qp_state has the value " + code);
    }
}
