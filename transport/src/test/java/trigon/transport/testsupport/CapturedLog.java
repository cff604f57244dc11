package trigon.transport.testsupport;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;
import trigon.testsupport.Await;

/** All that the transport, or another part, logs until it is closed. Each line begins with its level. */
public final class CapturedLog implements AutoCloseable {

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Logger logger;
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            lines.add(event.getLevel() + " " + event.getFormattedMessage());
        }
    };

    /** From INFO on. */
    public CapturedLog() {
        this(Level.INFO);
    }

    /** From that level on. */
    public CapturedLog(Level least) {
        this("trigon.transport", least);
    }

    /** Lines of the loggers below that name, from INFO on. */
    public CapturedLog(String loggers) {
        this(loggers, Level.INFO);
    }

    private CapturedLog(String loggers, Level least) {
        logger = (Logger) LoggerFactory.getLogger(loggers);
        appender.start();
        logger.addAppender(appender);
        logger.setLevel(least);
    }

    /** All so far. */
    public List<String> lines() {
        return lines;
    }

    /** Waits for a line that begins so and has all of these words. */
    public void await(String beginning, String... words) {
        Await.until(
                () -> "a line that begins with '%s' and has %s, among %s".formatted(beginning, List.of(words), lines),
                Await.DEADLINE,
                () -> has(beginning, words));
    }

    /** The same, while the node's time passes. */
    public void await(TestNode node, String beginning, String... words) {
        Await.until(() -> "'%s' and %s, among %s".formatted(beginning, List.of(words), lines), Await.DEADLINE, () -> {
            node.letTimePass();
            return has(beginning, words);
        });
    }

    private boolean has(String beginning, String... words) {
        return lines.stream()
                .anyMatch(line -> line.startsWith(beginning) && Stream.of(words).allMatch(line::contains));
    }

    @Override
    public void close() {
        logger.detachAppender(appender);
        logger.setLevel(null);
    }
}
