package trigon.entry.onesided;

import java.util.Locale;

/**
 * The calls that {@link OneSidedUpcalls#control} takes; the order is that of {@code ONE_SIDED_CALLS} in {@code
 * one_sided/upcalls.h}.
 */
enum OneSidedCall {
    OPEN_CONTEXT,
    FINALIZE,
    LISTEN,
    CONNECT,
    CREATE_CONTEXT,
    DESTROY_CONTEXT,
    REG_MR_SYM,
    DEREG_MR_SYM,
    CLOSE_COLL,
    CLOSE_LISTEN,
    QUERY_LAST_ERROR;

    /** Under which C tells its number. */
    String fact() {
        return "one_sided." + name().toLowerCase(Locale.ROOT);
    }
}
