package trigon.entry.net;

import java.util.Locale;

/**
 * The calls that {@link ControlUpcalls#call} takes; the order is that of {@code CONTROL_CALLS} in {@code
 * net/upcalls.h}.
 */
enum ControlCall {
    OPEN_CONTEXT,
    OPEN_DEFAULT_CONTEXT,
    FINALIZE,
    DEVICES,
    GET_PROPERTIES,
    LISTEN,
    CONNECT,
    ACCEPT,
    REG_MR,
    REG_MR_DMA_BUF,
    DEREG_MR,
    IFLUSH,
    CLOSE_SEND,
    CLOSE_RECV,
    CLOSE_LISTEN,
    MAKE_ROOM;

    /** Under which C tells its number. */
    String fact() {
        return "call." + name().toLowerCase(Locale.ROOT);
    }
}
