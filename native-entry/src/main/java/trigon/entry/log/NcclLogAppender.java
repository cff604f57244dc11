package trigon.entry.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.StackTraceElementProxy;
import ch.qos.logback.core.AppenderBase;
import java.io.PrintStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Logback events as lines of NCCL's log. Until it is {@linkplain #connect connected}, keeps the last {@value
 * #BUFFERED_LINES} lines. Thread-safe: {@link AppenderBase} lets one event in at a time.
 */
final class NcclLogAppender extends AppenderBase<ILoggingEvent> {

    static final int BUFFERED_LINES = 256;

    private static final int STACK_FRAMES = 30;

    private final PrintStream stderr;
    private final Deque<Line> buffered = new ArrayDeque<>();
    private @Nullable NcclLogger nccl;
    private LogSettings settings = LogSettings.of(Map.of());

    private record Line(Level level, String text) {}

    /**
     * A new appender, not connected.
     *
     * @param stderr takes the lines that NCCL's log does not show, where TRIGON_LOG asks for them
     */
    NcclLogAppender(PrintStream stderr) {
        this.stderr = stderr;
    }

    /** From now on lines go to NCCL's log, those kept first. */
    synchronized void connect(NcclLogger logger, LogSettings settings) {
        nccl = logger;
        this.settings = settings;
        flush(logger);
    }

    @Override
    protected synchronized void append(ILoggingEvent event) {
        if (SilentThreads.isCurrent()) {
            return;
        }
        for (String text : lines(event)) {
            buffered.addLast(new Line(event.getLevel(), text));
        }
        if (nccl != null) {
            flush(nccl);
        }
        while (buffered.size() > BUFFERED_LINES) {
            buffered.removeFirst();
        }
    }

    private void flush(NcclLogger logger) {
        for (Line line = buffered.peekFirst(); line != null; line = buffered.peekFirst()) {
            if (line.level().isGreaterOrEqual(settings.threshold()) && !show(logger, line)) {
                return;
            }
            buffered.removeFirst();
        }
    }

    /** False if NCCL has no log now. */
    private boolean show(NcclLogger logger, Line line) {
        boolean shown =
                settings.printedByNccl() != Level.OFF && line.level().isGreaterOrEqual(settings.printedByNccl());
        // NCCL keeps the last warning, shown or not
        if ((shown || line.level().isGreaterOrEqual(Level.WARN)) && !logger.log(ncclLevel(line.level()), line.text())) {
            return false;
        }
        if (!shown && settings.asked()) {
            stderr.println(NcclLogger.PREFIX + line.text());
        }
        return true;
    }

    private static int ncclLevel(Level level) {
        if (level.isGreaterOrEqual(Level.WARN)) {
            return NcclLogger.WARN;
        }
        return level.isGreaterOrEqual(Level.INFO) ? NcclLogger.INFO : NcclLogger.TRACE;
    }

    /** The message, and for a throwable its stack, a line each. */
    static List<String> lines(ILoggingEvent event) {
        List<String> lines = new ArrayList<>();
        IThrowableProxy thrown = event.getThrowableProxy();
        lines.add(event.getFormattedMessage() + (thrown == null ? "" : ": " + describe(thrown)));
        for (; thrown != null; thrown = thrown.getCause()) {
            StackTraceElementProxy[] stack = thrown.getStackTraceElementProxyArray();
            for (int i = 0; i < Math.min(stack.length, STACK_FRAMES); i++) {
                lines.add("    " + stack[i]);
            }
            if (thrown.getCause() != null) {
                lines.add("  caused by " + describe(thrown.getCause()));
            }
        }
        return lines;
    }

    private static String describe(IThrowableProxy thrown) {
        return thrown.getMessage() == null ? thrown.getClassName() : thrown.getClassName() + ": " + thrown.getMessage();
    }
}
