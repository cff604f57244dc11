package trigon.transport.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.transport.testsupport.LaneVerbs;
import trigon.transport.testsupport.TestCluster;

/**
 * A sender on a software link that is killed while its receiver has not asked for what it has sent, more than the
 * receiver's socket takes.
 *
 * <p>What waits in the sockets of a killed process is still sent by the kernel, for some minutes. {@code
 * -Dtrigon.unread.seconds=420} asks later than that, and has a machine vanish too, which takes a minute to be noticed.
 */
@Timeout(900)
class UnreadMessagesTest {

    private static final String SECONDS = "trigon.unread.seconds";

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"1048576, 0", "4096, 3"})
    void whatAKilledSenderHasSentIsReceivedOrAnErrorWheneverItIsAskedFor(int size, int seconds) throws Exception {
        int pause = seconds == 0 ? 0 : Integer.getInteger(SECONDS, seconds);
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.8.12.1/24}]}
                b: {nics: [{address: 127.8.12.2/24}]}
                """).withoutFailover();

        UnreadReceiver.End end = new UnreadReceiver(directory, size, pause, UnreadReceiver.MORE_THAN_A_SOCKET)
                .run(cluster, UnreadReceiver.THIS_ONE);

        System.err.println(end);
        if (pause == seconds) {
            assertThat(end.received()).as(end.text()).isGreaterThanOrEqualTo(end.sent());
        }
    }

    /** A sender that may go on over another path has no more under way than it keeps. */
    @ParameterizedTest
    @CsvSource({"4096, 0", "512, 1"})
    void theSameWhereTheReceiverAcknowledges(int size, int seconds) throws Exception {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.8.14.1/24}]}
                b: {nics: [{address: 127.8.14.2/24}]}
                """);

        UnreadReceiver.End end =
                new UnreadReceiver(directory, size, seconds, 1 << 16).run(cluster, UnreadReceiver.THIS_ONE);

        assertThat(end.received()).as(end.text()).isGreaterThanOrEqualTo(end.sent());
    }

    @Test
    @EnabledIfSystemProperty(named = SECONDS, matches = ".*", disabledReason = "takes more than a minute")
    void whatAMachineHasNotSentBeforeItVanishedIsAnError() throws Exception {
        assumeThat(run(List.of("unshare", "-rn", "ip", "link", "add", "va", "type", "veth", "peer", "name", "vb")))
                .as("unshare may make a network namespace with a cable in it")
                .isZero();

        int status = run(List.of(
                "unshare",
                "-rn",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                LaneVerbs.LIBRARY_OPTION,
                LaneVerbs.EXPORTS_OPTION,
                "-cp",
                System.getProperty("java.class.path"),
                UnreadReceiver.class.getName(),
                directory.toString(),
                "16384"));

        String said = Files.readString(directory.resolve("output"));
        System.err.println(said);
        assertThat(status).as(said).isZero();
        assertThat(said).contains("that were done, 0 s after their sender was killed");
    }

    private int run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("output").toFile())
                .start();
        try {
            assertThat(process.waitFor(300, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        return process.exitValue();
    }
}
