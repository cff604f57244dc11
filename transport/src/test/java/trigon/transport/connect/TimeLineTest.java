package trigon.transport.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/** The log says once in a process what its first connection waited for. */
@Timeout(180)
class TimeLineTest {

    @Test
    void theFirstConnectionsStagesAreSaidOnce(@TempDir Path directory) {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """);
        try (CapturedLog log = new CapturedLog();
                TestNode a = cluster.open("a");
                TestNode b = cluster.open("b")) {
            assertThat(new Connected(a, b).sendComm).isPositive();
            assertThat(new Connected(a, b).sendComm).isPositive();

            assertThat(log.lines())
                    .filteredOn(line -> line.contains("connection to b began"))
                    .singleElement()
                    .asString()
                    .matches("INFO the first connection to b began \\d+ ms after init, and took \\d+ ms"
                            + " \\(paths \\d+, offers \\d+, answers \\d+, queue pairs \\d+, ready \\d+\\)");
        }
    }
}
