package trigon.entry.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.core.spi.ContextAwareBase;
import ch.qos.logback.core.status.NopStatusListener;
import java.io.PrintStream;
import java.util.Map;

/**
 * Configures Logback in code: one appender, to NCCL's log, or that of a command to stderr. No file of the host
 * program's is looked for, and nothing is printed to stdout. Logback finds it as a service.
 */
public final class NcclLogConfigurator extends ContextAwareBase implements Configurator {

    static final String APPENDER = "nccl";

    /** System property with the name of the command that logs to stderr; without it, this is a process of NCCL's. */
    private static final String COMMAND = "trigon.log.command";

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        // a listener of its own keeps Logback from printing its status to stdout
        context.getStatusManager().add(new NopStatusListener());
        String command = System.getProperty(COMMAND);
        if (command != null) {
            configureCommand(context, command, System.getenv(), System.err);
            return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
        }
        NcclLogAppender appender = new NcclLogAppender(System.err);
        appender.setName(APPENDER);
        appender.setContext(context);
        appender.start();
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.setLevel(Level.INFO);
        root.addAppender(appender);
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    /**
     * Has a command log to stderr, as TRIGON_LOG says.
     *
     * @param environment the process's environment variables
     */
    static void configureCommand(
            LoggerContext context, String command, Map<String, String> environment, PrintStream stderr) {
        LogSettings settings = LogSettings.of(environment);
        CommandLogAppender appender = new CommandLogAppender(stderr, command);
        appender.setContext(context);
        appender.start();
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.setLevel(settings.asked() ? settings.threshold() : Level.INFO);
        root.addAppender(appender);
        if (!settings.unknown().isEmpty()) {
            root.warn(
                    "the environment variable TRIGON_LOG is \"{}\": must be one of off, error, warn, info, debug,"
                            + " trace; until then it is info",
                    settings.unknown());
        }
    }
}
