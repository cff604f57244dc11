package trigon.entry.log;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class NcclLogAppenderTest {

    private final Arena arena = Arena.ofConfined();
    private final List<String> lines = new ArrayList<>();
    private final ByteArrayOutputStream stderr = new ByteArrayOutputStream();
    private final NcclLogAppender appender = new NcclLogAppender(new PrintStream(stderr, true, StandardCharsets.UTF_8));
    private final LoggerContext context = new LoggerContext();
    private final Logger logger = context.getLogger("trigon.test");
    private boolean hasLogger = true;
    private NcclLogger nccl;

    @BeforeEach
    void start() throws ReflectiveOperationException {
        MethodType type = MethodType.methodType(int.class, int.class, long.class, long.class);
        nccl = new NcclLogger(Linker.nativeLinker()
                .upcallStub(
                        MethodHandles.lookup().bind(this, "logLine", type),
                        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG),
                        arena)
                .address());
        appender.setContext(context);
        appender.start();
        logger.setLevel(Level.TRACE);
        logger.addAppender(appender);
    }

    @AfterEach
    void close() {
        arena.close();
    }

    int logLine(int level, long subsystems, long text) {
        if (!hasLogger) {
            return 0;
        }
        lines.add(level + " " + Long.toHexString(subsystems) + " "
                + MemorySegment.ofAddress(text).reinterpret(4096).getString(0));
        return 1;
    }

    @Test
    void leavesOutWhatSilentThreadsSay() throws InterruptedException {
        appender.connect(nccl, asked(Level.TRACE));
        Thread silent = SilentThreads.newThread("silent", () -> {
            logger.warn("from a silent thread");
            Thread child = new Thread(() -> logger.warn("from its child"));
            child.start();
            joined(child);
        });
        silent.start();
        silent.join();
        logger.warn("from another");

        assertThat(lines).singleElement().asString().contains("from another");
        assertThat(stderr.size()).isZero();
    }

    /** The user has asked for everything, and NCCL's log shows so much. */
    private static LogSettings asked(Level printedByNccl) {
        return new LogSettings(Level.TRACE, printedByNccl, true, "");
    }

    private static void joined(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void mapsLevels() {
        appender.connect(nccl, asked(Level.TRACE));
        logger.error("e");
        logger.warn("w");
        logger.info("i {}", 1);
        logger.debug("d");
        logger.trace("t");

        assertThat(lines)
                .containsExactly(
                        "2 ffffffffffffffff NET/Trigon : e",
                        "2 ffffffffffffffff NET/Trigon : w",
                        "3 11 NET/Trigon : i 1",
                        "5 11 NET/Trigon : d",
                        "5 11 NET/Trigon : t");
    }

    @Test
    void keepsTheLastLinesUntilConnected() {
        for (int i = 0; i < NcclLogAppender.BUFFERED_LINES + 10; i++) {
            logger.info("{}", i);
        }
        appender.connect(nccl, asked(Level.INFO));

        assertThat(lines).hasSize(NcclLogAppender.BUFFERED_LINES);
        assertThat(lines.getFirst()).endsWith(": 10");
    }

    @Test
    void keepsLinesWhileNcclHasNoLogger() {
        appender.connect(nccl, asked(Level.INFO));
        hasLogger = false;
        logger.info("one");
        hasLogger = true;
        logger.info("two");

        assertThat(lines).containsExactly("3 11 NET/Trigon : one", "3 11 NET/Trigon : two");
    }

    @Test
    void printsWhatNcclWouldNot() {
        appender.connect(nccl, asked(Level.WARN));
        logger.debug("fine");
        logger.warn("coarse");

        assertThat(lines).containsExactly("2 ffffffffffffffff NET/Trigon : coarse");
        assertThat(stderr.toString(StandardCharsets.UTF_8).trim()).isEqualTo("NET/Trigon : fine");
    }

    @Test
    void whereNcclShowsNothingAWarningGoesToItAndToWhoAsked() {
        appender.connect(nccl, asked(Level.OFF));
        logger.warn("coarse");

        assertThat(lines).as("for ncclGetLastError").containsExactly("2 ffffffffffffffff NET/Trigon : coarse");
        assertThat(stderr.toString(StandardCharsets.UTF_8).trim()).isEqualTo("NET/Trigon : coarse");
    }

    @Test
    void saysNothingWhereNobodyAsked() {
        logger.info("before");
        appender.connect(nccl, LogSettings.of(Map.of()));
        logger.warn("coarse");

        assertThat(lines).containsExactly("2 ffffffffffffffff NET/Trigon : coarse");
        assertThat(stderr.size()).isZero();
    }

    @Test
    void logsCausesAndStacks() {
        appender.connect(nccl, asked(Level.INFO));
        logger.error("broke", new IllegalStateException("outer", new IllegalArgumentException("inner")));

        assertThat(lines.getFirst()).endsWith("broke: java.lang.IllegalStateException: outer");
        assertThat(lines)
                .anyMatch(line -> line.contains("    at " + NcclLogAppenderTest.class.getName()))
                .anyMatch(line -> line.contains("caused by java.lang.IllegalArgumentException: inner"));
    }
}
