package trigon.integration;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ConfiguratorRank;
import ch.qos.logback.core.joran.spi.JoranException;
import ch.qos.logback.core.spi.ContextAwareBase;
import java.net.URL;
import java.util.Objects;

/**
 * Sends what this JVM logs to its stderr, as logback-test.xml says. Without it the plugin's own configurator, which is
 * on the class path here, would keep all of it for an NCCL that never comes.
 */
@ConfiguratorRank(ConfiguratorRank.CUSTOM_HIGH_PRIORITY)
public final class TestLogConfigurator extends ContextAwareBase implements Configurator {

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        URL file = Objects.requireNonNull(TestLogConfigurator.class.getResource("/logback-test.xml"));
        JoranConfigurator joran = new JoranConfigurator();
        joran.setContext(context);
        try {
            joran.doConfigure(file);
        } catch (JoranException e) {
            throw new IllegalStateException("cannot configure the log from " + file, e);
        }
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }
}
