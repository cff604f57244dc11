package trigon.integration.hosts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import trigon.testsupport.Sampled;
import trigon.testsupport.Samples;

/**
 * Python programs, as with PyTorch: threads, forks, signals, other JVMs, the plugin twice. The cases are in
 * odd_host.py.
 */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(600)
class PythonHostIT {

    private static final int LEFT = 7;
    private static final Path JVMS = Path.of("/usr/lib/jvm");
    private static final Pattern RELEASE = Pattern.compile("JAVA_VERSION=\"(\\d+)");
    private static final int OLDEST_SUITABLE = 24;

    @TempDir
    private Path scratch;

    private OddHost host;

    @BeforeEach
    void wire() {
        host = OddHost.in(scratch);
    }

    @ParameterizedTest
    @Sampled({"threads", "thread_per_message", "signals", "fork_before", "spawn"})
    void goesOnAsIfThereWereNoJvm(String name) {
        host.python(name).hasSucceeded();
    }

    @ParameterizedTest
    @Sampled({"threads", "signals"})
    void goesOnWithLibjsig(String name) {
        withLibjsig().python(name).hasSucceeded();
    }

    /** As "program | head" does; and not before, by a write to a peer that is gone. */
    @Test
    void endsByItsOwnWriteToAPipeThatNobodyReads() {
        host.python("pipe")
                .hasExited(OddHost.BROKEN_PIPE)
                .hasSaid("after the start: 0", "a write to a pipe that nobody reads");
    }

    @ParameterizedTest
    @Sampled({"process", "pool", "os._exit", "sys.exit"})
    void forksAfterTheStartAndTheChildrenGetErrors(String how) {
        host.python("fork_after", how)
                .hasSucceeded()
                .hasSaid("in a process forked after Trigon started: the JVM does not survive a fork", "\"spawn\"");
    }

    @Test
    void startsOtherProgramsDuringTraffic() {
        host.python("fork_after", "subprocess").hasSucceeded();
    }

    @ParameterizedTest
    @Sampled({"sys.exit", "os._exit", "exit", "thread"})
    void exitsDuringTraffic(String how) {
        for (int round = 0; round < 2; round++) {
            host.python("leave", how).hasExited(LEFT);
        }
    }

    static List<Integer> tenTimes() {
        return Samples.of(IntStream.rangeClosed(1, 10).boxed().toList());
    }

    /** The JVM's threads go on while exit() destroys what they use. */
    @ParameterizedTest
    @Tag("long")
    @MethodSource("tenTimes")
    void exitsWhileTheJvmCollectsGarbage(int time) {
        host.python("leave_while_collecting", host.libjvm().toString()).hasExited(LEFT);
    }

    /** Nothing waits for ever for the collection that is kept from beginning. */
    @Test
    @Tag("long")
    void exitsWhenAnExitHandlerWaitsForTheGarbageCollector() {
        host.python("leave_and_use_java", host.libjvm().toString()).hasExited(LEFT);
    }

    @Test
    void endsByAnExceptionDuringTraffic() {
        host.python("leave", "raise").hasExited(1).hasSaid("SystemError: 7");
    }

    @ParameterizedTest
    @Tag("long")
    @Sampled({"before", "after"})
    void crashesWithPythonsOwnReport(String when) {
        host.python("crash", when)
                .hasExited(OddHost.SEGMENTATION_FAULT)
                .hasSaid("Fatal Python error: Segmentation fault", "in crash");
        withLibjsig()
                .python("crash", when)
                .hasExited(OddHost.SEGMENTATION_FAULT)
                .hasSaid("Fatal Python error: Segmentation fault", "in crash");
    }

    /**
     * A handler is alone until the guard has seen it, and a fault of the JVM's in that time would end the process. With
     * libjsig none is ever alone, so that there may be traffic; without it the JVM interprets, which takes no faults.
     */
    @ParameterizedTest
    @Tag("long")
    @Sampled({"false", "true"})
    void installsCrashHandlersAgainAndAgain(boolean duringTraffic) {
        String rounds = Integer.toString(Integer.getInteger("trigon.handlers.rounds", 50));

        (duringTraffic
                        ? withLibjsig().python("late_handlers_during_traffic", rounds)
                        : host.with("TRIGON_JAVA_OPTS", "-Xint").python("late_handlers", rounds))
                .hasSucceeded()
                .hasNotSaid("Fatal Python error");
    }

    @Test
    @Tag("long")
    void crashesAsItWouldWithoutAJvm() throws IOException {
        host.python("crash", "never").hasExited(OddHost.SEGMENTATION_FAULT);
        host.python("killed").hasExited(OddHost.SEGMENTATION_FAULT);
        withLibjsig().python("crash", "never").hasExited(OddHost.SEGMENTATION_FAULT);

        try (Stream<Path> files = Files.list(scratch)) {
            assertThat(files).noneMatch(file -> file.toString().contains("hs_err"));
        }
    }

    @Test
    @Tag("long")
    void hasAJvmOfTheSameLibraryAlready() {
        host.with("NCCL_DEBUG", "INFO")
                .python("running_jvm", host.libjvm().toString())
                .hasSucceeded()
                .hasSaid("using the JVM that runs in this process");
    }

    @Test
    @Tag("long")
    void hasAJvmOfAnotherLibraryAlready() {
        host.with("NCCL_DEBUG", "INFO")
                .python("running_jvm", libjvmOfTheBuild().toString())
                .hasSucceeded()
                .hasSaid("using the JVM that runs in this process");
    }

    @Test
    void hasLoadedAnotherLibjvmWithoutAJvm() {
        host.python("other_libjvm", libjvmOfTheBuild().toString())
                .hasSucceeded()
                .hasSaid("another JVM, " + libjvmOfTheBuild() + ", is loaded in this process", "set JAVA_HOME");
    }

    @Test
    void hasAnOlderJvmAlready() throws IOException {
        Optional<Path> older = olderLibjvm();
        assumeThat(older).as("a JVM older than 24 below " + JVMS).isPresent();

        host.python("unsuitable_jvm", older.orElseThrow().toString())
                .hasSucceeded()
                .hasSaid("the JVM that runs in this process is older than Java 25");
    }

    @ParameterizedTest
    @Sampled({"two_copies", "two_copies_at_once"})
    void loadsThePluginFromTwoPaths(String name) throws IOException {
        Path copy = Files.createDirectories(scratch.resolve("copy/lib"));
        Files.copy(host.plugin(), copy.resolve("libnccl-net-trigon.so"));
        for (String folder : List.of("jars", "runtime")) {
            Files.createSymbolicLink(
                    scratch.resolve("copy").resolve(folder), host.distribution().resolve(folder));
        }

        host.with("NCCL_DEBUG", "INFO")
                .python(name, copy.resolve("libnccl-net-trigon.so").toString())
                .hasSucceeded()
                .hasSaid("using the JVM that runs in this process");
    }

    private OddHost withLibjsig() {
        return host.with(
                "LD_PRELOAD",
                host.distribution().resolve("runtime/lib/libjsig.so").toString());
    }

    private static Path libjvmOfTheBuild() {
        return Path.of(System.getProperty("java.home"), "lib/server/libjvm.so");
    }

    private static Optional<Path> olderLibjvm() throws IOException {
        if (!Files.isDirectory(JVMS)) {
            return Optional.empty();
        }
        try (Stream<Path> homes = Files.list(JVMS)) {
            for (Path home : homes.sorted().toList()) {
                Path release = home.resolve("release");
                Path libjvm = home.resolve("lib/server/libjvm.so");
                if (Files.isRegularFile(release) && Files.isRegularFile(libjvm)) {
                    Matcher version = RELEASE.matcher(Files.readString(release));
                    if (version.find() && Integer.parseInt(version.group(1)) < OLDEST_SUITABLE) {
                        return Optional.of(libjvm);
                    }
                }
            }
        }
        return Optional.empty();
    }
}
