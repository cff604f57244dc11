package trigon.integration.hosts;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * JVM options in the environment that were meant for other programs. JAVA_TOOL_OPTIONS go before Trigon's own, which
 * win; _JAVA_OPTIONS after.
 */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(600)
class HostileOptionsIT {

    @TempDir
    private Path scratch;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            JAVA_TOOL_OPTIONS | -Xmx2m
            JAVA_TOOL_OPTIONS | -Xms1t -Xmx1t
            JAVA_TOOL_OPTIONS | -XX:+UseG1GC
            JAVA_TOOL_OPTIONS | -XX:+ExitOnOutOfMemoryError
            JAVA_TOOL_OPTIONS | -XX:+CrashOnOutOfMemoryError
            JAVA_TOOL_OPTIONS | -verbose
            JAVA_TOOL_OPTIONS | -Xlog:all=info:stdout
            JAVA_TOOL_OPTIONS | -XX:+PrintFlagsFinal
            JAVA_TOOL_OPTIONS | -XX:+PrintCompilation
            JAVA_TOOL_OPTIONS | -Xint
            JAVA_TOOL_OPTIONS | -Xcheck:jni
            JAVA_TOOL_OPTIONS | -Djava.class.path=/nowhere
            JAVA_TOOL_OPTIONS | -Xss64k
            _JAVA_OPTIONS     | -Xint
            _JAVA_OPTIONS     | -verbose
            _JAVA_OPTIONS     | -Xlog:gc
            _JAVA_OPTIONS     | -Xlog:all=info:stdout
            _JAVA_OPTIONS     | -XX:+PrintFlagsFinal
            _JAVA_OPTIONS     | -XX:+PrintCompilation
            _JAVA_OPTIONS     | -Xcheck:jni
            _JAVA_OPTIONS     | -XX:AOTCache=/nowhere
            JDK_JAVA_OPTIONS  | -Xnonsense -Xlog:help
            """)
    void areNoMatter(String variable, String options) {
        OddHost.in(scratch).with(variable, options).c(12, "live").hasSucceeded();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            JAVA_TOOL_OPTIONS | -Xnonsense              | Unrecognized option: -Xnonsense
            JAVA_TOOL_OPTIONS | -XX:+UseXXX             | Unrecognized VM option 'UseXXX'
            JAVA_TOOL_OPTIONS | -javaagent:/nowhere.jar | Could not find agent library instrument
            JAVA_TOOL_OPTIONS | -agentpath:/nowhere.so  | Could not find agent library /nowhere.so
            JAVA_TOOL_OPTIONS | -XX:Flags=/nowhere      | Could not open settings file
            JAVA_TOOL_OPTIONS | -XX:AOTMode=on          | Unable to use AOT cache
            _JAVA_OPTIONS     | -Xnonsense              | Unrecognized option: -Xnonsense
            _JAVA_OPTIONS     | -XX:+UseXXX             | Unrecognized VM option 'UseXXX'
            _JAVA_OPTIONS     | -Xmx2m                  | Initial heap size set to a larger value than the maximum
            _JAVA_OPTIONS     | -XX:+UseG1GC            | Multiple garbage collectors selected
            _JAVA_OPTIONS     | -javaagent:/nowhere.jar | Could not find agent library instrument
            _JAVA_OPTIONS     | -Xlog:nonsense          | Invalid tag 'nonsense'
            _JAVA_OPTIONS     | -Xss64k                 | stack size specified is too small
            TRIGON_JAVA_OPTS  | -XX:+UseG1GC -XX:+UseZGC | Multiple garbage collectors selected
            """)
    void keepItFromStartingAndTheLogSaysWhy(String variable, String options, String reason) {
        OddHost.in(scratch)
                .with(variable, options)
                .c(12, "live")
                .hasExited(1)
                .hasSaid(reason, "did not start", "with " + variable + "=" + options, "init returned 2 (system error)");
    }

    /** Each of these would end the process, or print, before a call returns. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "-Xlog:help",
                "-XX:+PrintFlagsInitial",
                "-Xinternalversion",
                "-Xshare:dump",
                "-XX:StartFlightRecording",
                "-Xmx64m '-Xlog:help'"
            })
    void areRefusedWhereTheyWouldEndTheHost(String options) {
        for (String variable : new String[] {"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "TRIGON_JAVA_OPTS"}) {
            OddHost.in(scratch)
                    .with(variable, options)
                    .c(12, "live")
                    .hasExited(1)
                    .hasSaid(variable + " in the environment has -X", "remove it", "init returned 2 (system error)");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-XX:+ExitOnOutOfMemoryError", "-XX:+CrashOnOutOfMemoryError"})
    void areRefusedWhereTheyWouldEndTheHostLater(String option) {
        OddHost.in(scratch)
                .with("_JAVA_OPTIONS", option)
                .c(12, "live")
                .hasExited(1)
                .hasSaid("_JAVA_OPTIONS in the environment has " + option);
    }

    /** With the collector that gives up soon: another one collects for long before the memory is at its end. */
    @Test
    void thatEndTheProcessWithoutMemoryAreSwitchedOff() {
        OddHost.in(scratch)
                .with("JAVA_TOOL_OPTIONS", "-XX:+ExitOnOutOfMemoryError")
                .with(
                        "TRIGON_JAVA_OPTS",
                        "-Xms4m -Xmx8m -XX:-UseSerialGC -XX:+UseParallelGC"
                                + " -XX:GCTimeLimit=20 -XX:GCHeapFreeLimit=20")
                .c(12, "hoard")
                .hasSucceeded()
                .hasSaid("Java has run out");
    }

    /** The JVM says so before it comes to Trigon's options; the runtime brings some that it reads before all others. */
    @ParameterizedTest
    @ValueSource(strings = {"-Xlog:nonsense", "-Xlog:gc=nonsense:stdout", "-Xloggc:/nowhere/gc.log"})
    void aMalformedLogOptionPutsNothingOnStandardOutput(String option) {
        OddHost.in(scratch)
                .with("JAVA_TOOL_OPTIONS", option)
                .c(12, "live")
                .hasExited(1)
                .hasSaid("[error", "did not start", "with JAVA_TOOL_OPTIONS=" + option);
    }
}
