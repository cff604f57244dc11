package trigon.entry.log;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import java.util.Map;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;

/** Joins the two ends: the process's loggers and NCCL's log. */
public final class NcclLog {

    private NcclLog() {}

    /**
     * Sends all events to NCCL's log, at the level that the environment asks for.
     *
     * @param environment the process's environment variables
     */
    public static void connect(NcclLogger nccl, Map<String, String> environment) {
        ILoggerFactory factory = LoggerFactory.getILoggerFactory();
        if (!(factory instanceof LoggerContext context)) {
            nccl.log(NcclLogger.WARN, "Trigon writes no log: SLF4J is bound to " + factory.getClass());
            return;
        }
        LogSettings settings = LogSettings.of(environment);
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.setLevel(settings.threshold());
        if (root.getAppender(NcclLogConfigurator.APPENDER) instanceof NcclLogAppender appender) {
            appender.connect(nccl, settings);
        }
        if (!settings.unknown().isEmpty()) {
            root.warn(
                    "the environment variable TRIGON_LOG is \"{}\": must be one of off, error, warn, info, debug,"
                            + " trace; until then NCCL_DEBUG sets the level",
                    settings.unknown());
        }
    }
}
