package trigon.integration.hosts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.testsupport.Sampled;

/** Programs in C: how they end, what signals they handle, how little stack, memory and disk they have. */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(600)
class HostProcessIT {

    private static final int LEFT = 7;
    private static final int MAX_THREADS = 16;

    /** Java code that runs at a time that the host does not choose. */
    private static final String NO_WARM_UP = "-Dtrigon.warmup=false";

    @TempDir
    private Path scratch;

    private OddHost host;

    @BeforeEach
    void wire() {
        host = OddHost.in(scratch);
    }

    @ParameterizedTest
    @Tag("long")
    @Sampled({"exit", "_exit", "quick_exit", "return", "thread"})
    void endsAtOnceWhileOtherThreadsAreInThePlugin(String how) {
        for (int round = 0; round < 2; round++) {
            host.c(12, "exit", how).hasExited(LEFT).hasNotSaid("FAILED");
        }
    }

    @Test
    void abortsAsItWouldWithoutAJvm() throws IOException {
        host.c(12, "exit", "abort").hasExited(OddHost.ABORTED);

        assertThat(filesNamed("hs_err")).isEmpty();
    }

    @ParameterizedTest
    @Sampled({
        "before, SEGV",
        "before, BUS",
        "before, FPE",
        "before, ILL",
        "after, SEGV",
        "after, BUS",
        "after, FPE",
        "after, ILL"
    })
    void handlesItsOwnFaultsDuringTraffic(String when, String signal) {
        host.with("TRIGON_JAVA_OPTS", NO_WARM_UP)
                .c(12, "fault", when + ":" + signal)
                .hasSucceeded();
    }

    @ParameterizedTest
    @Tag("long")
    @Sampled({"before, SEGV", "after, SEGV", "after, FPE", "before, BUS", "after, ILL"})
    void handlesItsOwnFaultsWithLibjsig(String when, String signal) {
        host.with("LD_PRELOAD", libjsig().toString())
                .with("TRIGON_JAVA_OPTS", NO_WARM_UP)
                .c(12, "fault", when + ":" + signal)
                .hasSucceeded();
    }

    @ParameterizedTest
    @Sampled({"8", "9", "10", "11", "12"})
    void livesOnThreadsOf128KibOfStack(int api) {
        host.with("TRIGON_LOG", "trace").c(api, "stack", "128").hasSucceeded();
    }

    @ParameterizedTest
    @Sampled({"8", "9", "10", "11", "12"})
    void failsInOrderOnThreadsOf128KibOfStack(int api) {
        OddHost.End end =
                host.by("/bin/sh", "-c", "ulimit -s 128 && exec \"$@\"", "sh").c(api, "every");

        end.hasSucceeded()
                .hasSaid("init returned 0", "listen returned ", "test returned 4", "finalize returned 0")
                .hasNotSaid("LEFT SOMETHING BEHIND", "too little stack");
    }

    @ParameterizedTest
    @Sampled({"100", "64"})
    void turnsCallsBackFromThreadsWithLessStack(int kib) {
        host.c(12, "stack", Integer.toString(kib))
                .hasExited(1)
                .hasSaid(
                        "on a thread with too little stack: Java needs", "ulimit -s", "init returned 2 (system error)");
    }

    /** As kernels for arm64 have them: what HotSpot keeps of a stack is whole pages. */
    @ParameterizedTest
    @Sampled({"16, 128, 140", "64, 256, 332"})
    void needsMoreStackWherePagesAreLarger(int pageKib, int kib, int needed) {
        OddHost paged = host.with("LD_PRELOAD", pageSize().toString()).with("PAGE_KIB", Integer.toString(pageKib));

        paged.c(12, "stack", Integer.toString(kib))
                .hasExited(1)
                .hasSaid("on a thread with too little stack: Java needs " + needed + " KiB");
        paged.c(12, "stack", Integer.toString(needed + 20)).hasSucceeded();
    }

    @ParameterizedTest
    @Sampled({"", "-Xint"})
    void turnsCallsBackThatComeFromTooDeep(String options) {
        host.with("TRIGON_JAVA_OPTS", options)
                .c(12, "deep")
                .hasSucceeded()
                .hasSaid("200 KiB left: devices returned 0", "40 KiB left: devices returned 2", "too little stack");
    }

    @ParameterizedTest
    @Tag("long")
    @Sampled({"-Xms4m -Xmx7m", "-Xms4m -Xmx8m", "-Xms4m -Xmx10m", "-XX:MaxDirectMemorySize=1m"})
    void getsAnErrorWhenJavaIsOutOfMemory(String options) {
        host.with("TRIGON_JAVA_OPTS", options)
                .c(12, "hoard")
                .hasSucceeded()
                .hasSaid("connections, then one was refused")
                .hasNotSaid("timeout");
    }

    /** In KiB: of all address space (-v), and of what can be written (-d). HotSpot would end the process with less. */
    @ParameterizedTest
    @Sampled({"-v, 200000", "-v, 700000", "-v, 1050000", "-v, 1200000", "-d, 60000", "-d, 100000", "-d, 130000"})
    void getsAnErrorWhereTheKernelWouldRefuseTheJvmItsMemory(String limit, int kib) {
        withLimit(limit, kib)
                .c(12, "live")
                .hasExited(1)
                .hasSaid("the kernel does not grant", "ulimit " + limit, "init returned 2 (system error)");
    }

    @ParameterizedTest
    @Sampled({"-v, 1600000", "-d, 300000"})
    void runsWhereTheKernelGrantsTheJvmItsMemory(String limit, int kib) {
        withLimit(limit, kib).c(12, "live").hasSucceeded();
        withLimit(limit, kib).with("TRIGON_JAVA_OPTS", "-Xmx1g").c(12, "live").hasExited(limit.equals("-v") ? 1 : 0);
    }

    private OddHost withLimit(String limit, int kib) {
        return host.by("/bin/sh", "-c", "ulimit %s %d && exec \"$@\"".formatted(limit, kib), "sh");
    }

    @Test
    @Tag("long")
    void isToldOnceWhyEverythingFailsWithoutMemory() {
        OddHost.End end =
                host.with("TRIGON_JAVA_OPTS", "-Xms4m -Xmx8m").c(12, "hoard").hasSucceeded();

        assertThat(end.stderr().split("Java has run out: Java heap space", -1)).hasSize(2);
    }

    @ParameterizedTest
    @Sampled({"-Xms2m -Xmx2m", "-Xms2m -Xmx4m", "-Xms2m -Xmx5m"})
    void startsOrSaysWhyNotInAHeapTooSmallToStart(String options) {
        OddHost.End end = host.with("TRIGON_JAVA_OPTS", options).c(12, "live").hasCleanOutput();

        assertThat(end.exit()).as(end.stderr()).isIn(0, 1);
        if (end.exit() == 1) {
            end.hasSaid("NET/Trigon : ", "FAILED").hasNotSaid("timeout");
        }
    }

    @Test
    void isLeftWithoutHandlesOnWhatIsNotThere() {
        host.with("TMPDIR", "/proc")
                .with("HOME", "/proc")
                .c(12, "live")
                .hasSucceeded()
                .hasNotSaid("/proc");
    }

    @Test
    void runsWhereNothingCanBeWritten() {
        OddHost readOnly = host.by(
                "unshare", "-rm", "sh", "-c", "mount -o remount,bind,ro / && ! touch /tmp/x 2>&- && exec \"$@\"", "sh");
        assumeThat(readOnly.by(
                                "unshare",
                                "-rm",
                                "sh",
                                "-c",
                                "mount -o remount,bind,ro / && ! touch /tmp/x 2>&- || exit 3",
                                "sh")
                        .c(12, "none")
                        .exit())
                .as("unshare can make the file system read-only (3: it cannot)")
                .isZero();

        readOnly.with("HOME", "/root").c(12, "live").hasSucceeded();
    }

    @Test
    void leavesNoFilesBehind() throws IOException {
        host.c(12, "live").hasSucceeded();

        assertThat(filesNamed("hsperf")).isEmpty();
        assertThat(filesNamed("hs_err")).isEmpty();
        assertThat(filesNamed(".attach")).isEmpty();
    }

    /** It would take longer than all else that a connection needs, and memory for good. */
    @Test
    void startsNoFlightRecorder() throws IOException {
        Path initialized = scratch.resolve("initialized.log");

        host.with("TRIGON_JAVA_OPTS", "-Xlog:class+init=info:file=" + initialized)
                .c(12, "threads", Integer.toString(MAX_THREADS))
                .hasSucceeded();

        assertThat(Files.readString(initialized))
                .contains("'trigon/qpstate/QueuePairLifecycle'")
                .doesNotContain("'jdk/jfr/internal/");
    }

    /** On software links, where there is one more than on RDMA links. What only comes and goes may be more. */
    @Test
    void addsAtMostSixteenThreads() {
        OddHost.End end = host.c(12, "threads", Integer.toString(MAX_THREADS)).hasSucceeded();

        List<String> own = threads(end, "before init");
        for (String when : List.of("after init", "with a connection")) {
            List<String> added = new ArrayList<>(threads(end, when));
            own.forEach(added::remove);
            assertThat(added)
                    .as("threads that the plugin has added %s", when)
                    .contains("VM Thread", "trigon-handshak", "trigon-events", "trigon-signals")
                    .as("over software links the second compiler stays out")
                    .doesNotContain("C2 CompilerThre")
                    .hasSizeLessThanOrEqualTo(MAX_THREADS);
        }
    }

    /** The names that odd-host has printed, which the kernel cuts off after 15 characters. */
    private static List<String> threads(OddHost.End end, String when) {
        String line = end.stderr()
                .lines()
                .filter(candidate -> candidate.startsWith("threads " + when + ": "))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no threads " + when + " in: " + end.stderr()));
        return List.of(line.substring(line.indexOf(": ") + 2).split(", "));
    }

    /** What tells the plugin another size of pages. */
    private static Path pageSize() {
        return Path.of(System.getProperty("trigon.odd.host")).resolveSibling("libpage-size.so");
    }

    private Path libjsig() {
        return host.distribution().resolve("runtime/lib/libjsig.so");
    }

    private Stream<Path> filesNamed(String part) throws IOException {
        try (Stream<Path> files = Files.list(scratch)) {
            return files
                    .filter(file -> file.getFileName()
                            .toString()
                            .toLowerCase(Locale.ROOT)
                            .contains(part))
                    .toList()
                    .stream();
        }
    }
}
