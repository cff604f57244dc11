package trigon.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** All that the handshake logs, at any level. */
public final class CapturedLog {

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger("trigon.handshake");
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            lines.add(event.getLevel() + " " + event.getFormattedMessage());
        }
    };

    public void start() {
        appender.start();
        logger.addAppender(appender);
        logger.setLevel(Level.TRACE);
    }

    public void stop() {
        logger.detachAppender(appender);
        logger.setLevel(null);
    }

    public List<String> lines() {
        return List.copyOf(lines);
    }

    /** Whether a line of that level has all of these in it. */
    public boolean has(String level, Object... parts) {
        return lines.stream()
                .anyMatch(line -> line.startsWith(level)
                        && Arrays.stream(parts).allMatch(part -> line.contains(part.toString())));
    }

    /** No line has these bytes in it, in any of the usual ways to write bytes. */
    public void assertNever(byte[] bytes) {
        String all = String.join("\n", lines);
        assertThat(all.toLowerCase(Locale.ROOT)).doesNotContain(HexFormat.of().formatHex(bytes));
        assertThat(all)
                .doesNotContain(Base64.getEncoder().encodeToString(bytes))
                .doesNotContain(Arrays.toString(bytes))
                .doesNotContain(new String(bytes, StandardCharsets.ISO_8859_1));
    }
}
