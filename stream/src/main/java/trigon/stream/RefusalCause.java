package trigon.stream;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Cause of a circuit that a relay does not open, by the code in its reply. The first two tell of the circuit's end. */
public enum RefusalCause {
    /** The kernel at the end says that nobody listens there. */
    END_REFUSED(1),
    /** The end does not answer, or there is no link to it. */
    END_UNREACHABLE(2),
    /** The relay carries as many circuits as it may; another process of its node may have room. */
    FULL(3),
    /** The request is not admitted, or makes no sense. */
    DENIED(4),
    /** The next relay of the route does not answer, or opens no circuit for a cause of its own. */
    NEXT_RELAY(5);

    private final byte code;

    RefusalCause(int code) {
        this.code = (byte) code;
    }

    /** The byte that stands for it. */
    public byte code() {
        return code;
    }

    /** The cause that a byte stands for; empty if none does. */
    public static Optional<RefusalCause> of(byte code) {
        return code > 0 && code <= values().length ? Optional.of(values()[code - 1]) : Optional.empty();
    }

    /**
     * The cause where a relay could not connect.
     *
     * @param toEnd whether to the circuit's end, and not to the next relay
     * @param failure how that ended; null after a timeout
     */
    public static RefusalCause of(boolean toEnd, @Nullable Throwable failure) {
        if (!toEnd) {
            return NEXT_RELAY;
        }
        return ConnectFailures.isRefusal(failure) ? END_REFUSED : END_UNREACHABLE;
    }

    /** The same as the relay before it says it: only a word about the end goes on from relay to relay. */
    public RefusalCause fromRelayBefore() {
        return switch (this) {
            case END_REFUSED, END_UNREACHABLE -> this;
            case FULL, DENIED, NEXT_RELAY -> NEXT_RELAY;
        };
    }
}
