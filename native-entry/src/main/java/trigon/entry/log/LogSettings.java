package trigon.entry.log;

import ch.qos.logback.classic.Level;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;

/**
 * How much is logged: read once, so that what is off costs one comparison.
 *
 * @param threshold the finest level of Trigon's events
 * @param printedByNccl the finest level that NCCL's own log shows; what is finer goes to stderr
 */
record LogSettings(Level threshold, Level printedByNccl) {

    /** Overrides what NCCL_DEBUG says: off, error, warn, info, debug or trace. */
    private static final String OWN_LEVEL = "TRIGON_LOG";

    private static final String NCCL_LEVEL = "NCCL_DEBUG";
    private static final String NCCL_SUBSYSTEMS = "NCCL_DEBUG_SUBSYS";

    /** Reads the process's environment variables. */
    static LogSettings of(Map<String, String> environment) {
        Level nccl = ncclLevel(environment);
        return new LogSettings(ownLevel(environment, nccl), nccl);
    }

    /** Warnings always: without NCCL_DEBUG, NCCL prints none, but keeps the last for ncclGetLastError. */
    private static Level ncclLevel(Map<String, String> environment) {
        Level level = switch (environment.getOrDefault(NCCL_LEVEL, "").trim().toUpperCase(Locale.ROOT)) {
            case "INFO", "ABORT" -> Level.INFO;
            case "TRACE" -> Level.TRACE;
            default -> Level.WARN;
        };
        return showsOurSubsystems(environment) ? level : Level.WARN;
    }

    /** A list of names, reversed by a leading ^; unset, it is INIT and others. */
    private static boolean showsOurSubsystems(Map<String, String> environment) {
        String list = environment.getOrDefault(NCCL_SUBSYSTEMS, "").trim().toUpperCase(Locale.ROOT);
        if (list.isEmpty()) {
            return true;
        }
        boolean reversed = list.startsWith("^");
        var names = Arrays.asList((reversed ? list.substring(1) : list).split(","));
        boolean all = names.contains("ALL");
        return reversed
                ? !all && !(names.contains("NET") && names.contains("INIT"))
                : all || names.contains("NET") || names.contains("INIT");
    }

    private static Level ownLevel(Map<String, String> environment, Level otherwise) {
        return switch (environment.getOrDefault(OWN_LEVEL, "").trim().toUpperCase(Locale.ROOT)) {
            case "OFF" -> Level.OFF;
            case "ERROR" -> Level.ERROR;
            case "WARN" -> Level.WARN;
            case "INFO" -> Level.INFO;
            case "DEBUG" -> Level.DEBUG;
            case "TRACE" -> Level.TRACE;
            default -> otherwise;
        };
    }
}
