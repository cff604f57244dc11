package trigon.entry.log;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.io.PrintStream;
import java.util.Locale;

/** Logback events as lines of a command that runs for long, among those that it prints itself. */
final class CommandLogAppender extends AppenderBase<ILoggingEvent> {

    private final PrintStream stderr;
    private final String command;

    /**
     * An appender of one command.
     *
     * @param command its name, with which each line begins
     */
    CommandLogAppender(PrintStream stderr, String command) {
        this.stderr = stderr;
        this.command = command;
    }

    @Override
    protected void append(ILoggingEvent event) {
        String level = event.getLevel().toString().toLowerCase(Locale.ROOT);
        for (String line : NcclLogAppender.lines(event)) {
            stderr.println(command + ": " + level + ": " + line);
        }
    }
}
