package trigon.entry.log;

import ch.qos.logback.classic.Level;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The levels of the log: read once, so that what is off costs one comparison.
 *
 * @param threshold the finest level of Trigon's events
 * @param printedByNccl the finest level that NCCL's own log shows; {@link Level#OFF}: none
 * @param asked whether the user has asked Trigon for a level: what NCCL's log does not show goes to stderr then
 * @param unknown what TRIGON_LOG says if it is none of its words, or else empty
 */
record LogSettings(Level threshold, Level printedByNccl, boolean asked, String unknown) {

    /** Overrides what NCCL_DEBUG says: off, error, warn, info, debug or trace. */
    private static final String OWN_LEVEL = "TRIGON_LOG";

    private static final String NCCL_LEVEL = "NCCL_DEBUG";
    private static final String NCCL_SUBSYSTEMS = "NCCL_DEBUG_SUBSYS";

    /** Reads the process's environment variables. */
    static LogSettings of(Map<String, String> environment) {
        Level nccl = ncclLevel(environment);
        String own = environment.getOrDefault(OWN_LEVEL, "").trim();
        Optional<Level> asked = ownLevel(own);
        // without NCCL_DEBUG NCCL prints no warning, but keeps the last for ncclGetLastError
        Level otherwise = nccl == Level.OFF ? Level.WARN : nccl;
        return new LogSettings(
                asked.orElse(otherwise), nccl, asked.isPresent(), asked.isPresent() || own.isEmpty() ? "" : own);
    }

    private static Level ncclLevel(Map<String, String> environment) {
        Level level = switch (environment.getOrDefault(NCCL_LEVEL, "").trim().toUpperCase(Locale.ROOT)) {
            case "WARN" -> Level.WARN;
            case "INFO", "ABORT" -> Level.INFO;
            case "TRACE" -> Level.TRACE;
            default -> Level.OFF;
        };
        return level == Level.OFF || showsOurSubsystems(environment) ? level : Level.WARN;
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

    private static Optional<Level> ownLevel(String word) {
        return switch (word.toUpperCase(Locale.ROOT)) {
            case "OFF" -> Optional.of(Level.OFF);
            case "ERROR" -> Optional.of(Level.ERROR);
            case "WARN" -> Optional.of(Level.WARN);
            case "INFO" -> Optional.of(Level.INFO);
            case "DEBUG" -> Optional.of(Level.DEBUG);
            case "TRACE" -> Optional.of(Level.TRACE);
            default -> Optional.empty();
        };
    }
}
