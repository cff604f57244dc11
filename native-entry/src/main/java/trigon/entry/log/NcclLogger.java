package trigon.entry.log;

import java.lang.foreign.Arena;
import trigon.system.NativeFunction;

/**
 * NCCL's log, reached through {@code log_line} in {@code host/log.c}: NCCL's own logger is variadic, and text must not
 * become its format. Any thread.
 */
public final class NcclLogger {

    /** Levels of {@code ncclDebugLogLevel}. */
    public static final int WARN = 2;

    /** NCCL's number for {@code NCCL_DEBUG=INFO} (debug.h). */
    public static final int INFO = 3;

    /** NCCL's number for {@code NCCL_DEBUG=TRACE} (debug.h). */
    public static final int TRACE = 5;

    static final String PREFIX = "NET/Trigon : ";

    /** {@code NCCL_INIT}: shown with NCCL_DEBUG=INFO by default. */
    public static final long INIT = 0x1;

    /** {@code NCCL_NET}. */
    public static final long NET = 0x10;

    /** {@code NCCL_ALL}: warnings pass every filter, as NCCL's own do. */
    public static final long ALL = -1;

    private final NativeFunction logLine;

    /**
     * A way to NCCL's log.
     *
     * @param address of {@code int32_t log_line(int32_t level, int64_t subsystems, const char *text)}
     */
    public NcclLogger(long address) {
        logLine = NativeFunction.at(address);
    }

    /** Makes a line for {@link #warnPrepared}; it is never freed. Returns its address. */
    public long prepare(String text) {
        return Arena.global().allocateFrom(PREFIX + text).address();
    }

    /** Logs a prepared line as a warning. Allocates nothing. */
    public void warnPrepared(long line) {
        call(WARN, ALL, line);
    }

    /** Logs a line. Returns whether there is a logger that took it. */
    boolean log(int level, String text) {
        try (Arena arena = Arena.ofConfined()) {
            return call(
                    level,
                    level == WARN ? ALL : INIT | NET,
                    arena.allocateFrom(PREFIX + text.replace('\0', ' ')).address());
        }
    }

    private boolean call(int level, long subsystems, long line) {
        return (int) logLine.call(level, subsystems, line) != 0;
    }
}
