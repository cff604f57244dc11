package trigon.integration.hosts;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.testsupport.Sampled;

/**
 * JVM options in the environment: those of other Java programs have no effect, and TRIGON_JAVA_OPTS does not end the
 * host.
 */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(600)
class HostileOptionsIT {

    @TempDir
    private Path scratch;

    /** All at once: options that would end the process, print to stdout, or keep a JVM from starting. */
    @Test
    void ofOtherProgramsAreIgnored() {
        OddHost.End end = OddHost.in(scratch)
                .with("JAVA_TOOL_OPTIONS", "-javaagent:/nowhere.jar -agentpath:/nowhere.so -Xnonsense -Xmx2m")
                .with("_JAVA_OPTIONS", "-Xlog:help -Xinternalversion -XX:+PrintFlagsInitial -Xss64k -XX:+UseZGC")
                .with("JDK_JAVA_OPTIONS", "-Xnonsense -Xlog:help")
                .with("NCCL_DEBUG", "INFO")
                .c(12, "live")
                .hasSucceeded()
                .hasNotSaid("Picked up", "without an AOT cache");

        assertThat(end.stderr().lines().filter(line -> line.contains("ignored")))
                .singleElement(as(STRING))
                .contains("JAVA_TOOL_OPTIONS, _JAVA_OPTIONS", "set for other Java programs", "TRIGON_JAVA_OPTS");
    }

    @ParameterizedTest
    @Sampled({"-Xint", "-verbose", "-Xlog:all=info:stdout", "-XX:+PrintFlagsFinal", "-XX:+PrintCompilation"})
    void ofTrigonsOwnPutNothingOnStandardOutput(String options) {
        OddHost.in(scratch).with("TRIGON_JAVA_OPTS", options).c(12, "live").hasSucceeded();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            -XX:Flags=/nowhere       | Could not open settings file
            -javaagent:/nowhere.jar  | Could not find agent library instrument
            -Xmx2m                   | Initial heap size set to a larger value than the maximum
            -XX:+UseG1GC -XX:+UseZGC | Multiple garbage collectors selected
            -Xlog:nonsense           | Invalid tag 'nonsense'
            -Xss64k                  | stack size specified is too small
            """)
    void ofTrigonsOwnKeepItFromStartingAndTheLogSaysWhy(String options, String reason) {
        OddHost.in(scratch)
                .with("TRIGON_JAVA_OPTS", options)
                .c(12, "live")
                .hasExited(1)
                .hasSaid(reason, "did not start", "with TRIGON_JAVA_OPTS=" + options, "init returned 2 (system error)");
    }

    /** Each of these would end the process, or print, before a call returns. */
    @ParameterizedTest
    @Sampled({
        "-Xlog:help",
        "-XX:+PrintFlagsInitial",
        "-Xinternalversion",
        "-Xshare:dump",
        "-XX:StartFlightRecording",
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:+CrashOnOutOfMemoryError",
        "-Xmx64m '-Xlog:help'"
    })
    void ofTrigonsOwnAreRefusedWhereTheyWouldEndTheHost(String options) {
        OddHost.in(scratch)
                .with("TRIGON_JAVA_OPTS", options)
                .c(12, "live")
                .hasExited(1)
                .hasSaid("TRIGON_JAVA_OPTS in the environment has -X", "remove it", "init returned 2 (system error)");
    }
}
