package trigon.verbs;

/**
 * An event that a device reports by itself, beside all completions ({@code enum ibv_event_type}, and one of software
 * devices), with its meaning. @see <a
 * href="https://man7.org/linux/man-pages/man3/ibv_get_async_event.3.html">ibv_get_async_event(3)</a>
 */
public enum AsyncEventType {
    COMPLETION_QUEUE_ERROR(
            0, Scope.COMPLETION_QUEUE, "the completion queue overran or failed, and reports nothing more"),
    QUEUE_PAIR_FATAL(1, Scope.QUEUE_PAIR, "the queue pair failed, and could not report that as a completion"),
    QUEUE_PAIR_REQUEST_ERROR(2, Scope.QUEUE_PAIR, "the peer sent a request that is invalid here"),
    QUEUE_PAIR_ACCESS_ERROR(3, Scope.QUEUE_PAIR, "the peer accessed memory that is not registered for it"),
    COMMUNICATION_ESTABLISHED(4, Scope.QUEUE_PAIR, "the first message came before the queue pair was ready to send"),
    SEND_QUEUE_DRAINED(5, Scope.QUEUE_PAIR, "the send queue is drained"),
    PATH_MIGRATED(6, Scope.QUEUE_PAIR, "the queue pair uses its alternate path"),
    PATH_MIGRATION_FAILED(7, Scope.QUEUE_PAIR, "the queue pair cannot use its alternate path"),
    DEVICE_FATAL(8, Scope.DEVICE, "the device failed as a whole: its driver or firmware gave up, or it was unplugged"),
    PORT_ACTIVE(9, Scope.PORT, "the port's link is up"),
    PORT_ERROR(10, Scope.PORT, "the port's link is down"),
    LID_CHANGE(11, Scope.PORT, "the subnet manager gave the port another LID"),
    PARTITION_KEY_CHANGE(12, Scope.PORT, "the port's partition keys changed"),
    SUBNET_MANAGER_CHANGE(13, Scope.PORT, "another subnet manager took over"),
    SHARED_RECEIVE_QUEUE_ERROR(14, Scope.OTHER, "a shared receive queue failed"),
    SHARED_RECEIVE_QUEUE_LIMIT(15, Scope.OTHER, "a shared receive queue runs low"),
    LAST_WORK_REQUEST_REACHED(16, Scope.QUEUE_PAIR, "no more completions come from a shared receive queue"),
    CLIENT_REREGISTER(17, Scope.PORT, "the subnet manager asks for subscriptions anew"),
    GID_CHANGE(18, Scope.PORT, "an address was added to the port, or taken from it"),
    WORK_QUEUE_FATAL(19, Scope.OTHER, "a work queue failed"),
    UNKNOWN(-1, Scope.OTHER, "an event unknown to this version"),
    /** Not of libibverbs: software devices alone report it. */
    CONNECTION_BROKEN(
            -2,
            Scope.QUEUE_PAIR,
            "a TCP connection of the queue pair was broken while none of its requests could tell");

    /** The kind of object that an event is about. */
    public enum Scope {
        QUEUE_PAIR,
        COMPLETION_QUEUE,
        PORT,
        DEVICE,
        /** Kinds of objects that are not used here. */
        OTHER
    }

    private static final AsyncEventType[] BY_CODE = new AsyncEventType[20];

    static {
        for (AsyncEventType type : values()) {
            if (type.code >= 0) {
                BY_CODE[type.code] = type;
            }
        }
    }

    private final int code;
    private final Scope scope;
    private final String explanation;

    AsyncEventType(int code, Scope scope, String explanation) {
        this.code = code;
        this.scope = scope;
        this.explanation = explanation;
    }

    /** The type with that number in C, {@link #UNKNOWN} for one that a newer library may have. */
    public static AsyncEventType ofCode(int code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : UNKNOWN;
    }

    /** Its number in C; negative if it has none. */
    public int code() {
        return code;
    }

    public Scope scope() {
        return scope;
    }

    /** Its meaning, for messages. */
    public String explanation() {
        return explanation;
    }
}
