package trigon.entry;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import trigon.entry.loopback.Failure;
import trigon.testsupport.Samples;

/** A plugin that throws in every call, behind the real library, in a process of its own: the process lives. */
class FailingCallsIT {

    private static final String ODD_HOST = System.getProperty("trigon.test.odd.host");
    private static final int ABORTED = 128 + 6;

    private static final List<String> FAILING = List.of(
            "devices", "getProperties", "listen", "connect", "accept", "regMr", "isend", "irecv", "iflush", "test");
    private static final List<String> RELEASING =
            List.of("deregMr", "closeSend", "closeRecv", "closeListen", "finalize");

    @TempDir
    private Path scratch;

    /** All failures through the versions that differ most, and one through the others. */
    static List<Arguments> versionsAndFailures() {
        return Samples.of(Stream.concat(
                        Stream.of(8, 12)
                                .flatMap(api -> Stream.of(Failure.values()).map(failure -> Arguments.of(api, failure))),
                        Stream.of(9, 10, 11).map(api -> Arguments.of(api, Failure.RUNTIME)))
                .toList());
    }

    @ParameterizedTest
    @MethodSource("versionsAndFailures")
    void returnErrorsAndLeaveNothingBehind(int api, Failure failure) throws Exception {
        ChildProcess host = every(api, Map.of("LOOPBACK_FAULT", "throw:" + failure));

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stdout()).isEmpty();
        assertThat(host.stderr()).doesNotContain("LEFT SOMETHING BEHIND");
        List<String> expected = new ArrayList<>(List.of("init returned 3"));
        FAILING.forEach(call -> expected.add(call + " returned 3"));
        RELEASING.forEach(call -> expected.add(call + " returned 0"));
        assertThat(host.stderr()
                        .lines()
                        .filter(line -> line.contains(" returned "))
                        .filter(line -> !line.contains("NCCL")))
                .containsExactlyInAnyOrderElementsOf(expected);
    }

    @Test
    void reportACrashInJavaToStandardErrorAndAFile() throws Exception {
        ChildProcess host = every(12, Map.of("LOOPBACK_FAULT", "crash"));

        assertThat(host.exit()).as(host.stderr()).isEqualTo(ABORTED);
        assertThat(host.stdout()).isEmpty();
        assertThat(host.stderr()).contains("A fatal error has been detected by the Java Runtime Environment");
        try (Stream<Path> files = Files.list(scratch)) {
            assertThat(files).anyMatch(file -> file.getFileName().toString().startsWith("hs_err_trigon_"));
        }
    }

    private ChildProcess every(int api, Map<String, String> environment) throws Exception {
        return ChildProcess.run(
                scratch,
                environment,
                List.of(ODD_HOST, ChildProcess.PLUGIN.toString(), Integer.toString(api), "every"));
    }
}
