package trigon.entry.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.core.spi.ContextAwareBase;
import ch.qos.logback.core.status.NopStatusListener;

/**
 * Configures Logback in code: one appender, to NCCL's log. No file of the host program's is looked for, and nothing is
 * printed to stdout. Logback finds it as a service.
 */
public final class NcclLogConfigurator extends ContextAwareBase implements Configurator {

    static final String APPENDER = "nccl";

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        // a listener of its own keeps Logback from printing its status to stdout
        context.getStatusManager().add(new NopStatusListener());
        NcclLogAppender appender = new NcclLogAppender(System.err);
        appender.setName(APPENDER);
        appender.setContext(context);
        appender.start();
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.setLevel(Level.INFO);
        root.addAppender(appender);
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }
}
