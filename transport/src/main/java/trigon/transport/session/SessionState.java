package trigon.transport.session;

import java.util.EnumSet;
import java.util.Set;

/** States of a {@link Session}'s data path. Guarded by its {@link Gate}, where it has one. */
enum SessionState {
    /** Requests are posted, and what the devices complete is taken. */
    RUNNING,
    /** The same, while messages of former paths are still to be sent, or asked for, again. */
    REPEATING,
    /** The paths are of no use any more, and others are looked for: nothing is posted or taken. */
    INTERRUPTED,
    /** Every further call returns the failure, of which NCCL knows nothing so far. */
    FAILED,
    /** NCCL has been told. */
    REPORTED;

    /** Those that may come next. */
    Set<SessionState> successors() {
        return switch (this) {
            case RUNNING -> EnumSet.of(INTERRUPTED, FAILED);
            case REPEATING -> EnumSet.of(RUNNING, INTERRUPTED, FAILED);
            case INTERRUPTED -> EnumSet.of(RUNNING, REPEATING, FAILED);
            case FAILED -> EnumSet.of(REPORTED);
            case REPORTED -> EnumSet.noneOf(SessionState.class);
        };
    }

    boolean hasFailed() {
        return this == FAILED || this == REPORTED;
    }

    /** The state after this one. Allocates, so it is for changes only, and none comes with every message. */
    SessionState become(SessionState next) {
        if (next != this && !successors().contains(next)) {
            throw new IllegalStateException("a session that is %s cannot become %s".formatted(this, next));
        }
        return next;
    }
}
