package trigon.transport.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.transport.testsupport.Connected.finish;
import static trigon.transport.testsupport.Connected.retry;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.nccl.NcclResult;
import trigon.testsupport.LedgerAssert;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.RaisingVerbs;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.VerbsProvider;

/**
 * Two nodes of which one has failover off: their connections end with their path, at both ends, and one line says so.
 */
@Timeout(180)
class UnequalFailoverTest {

    private static final int BYTES = 4096;
    private static final int TAG = 3;
    private static final long REMOTE_ERROR = -NcclResult.REMOTE_ERROR.code();

    @ParameterizedTest
    @ValueSource(strings = {"a", "b"})
    void aConnectionThatOneEndCannotKeepEndsWithItsPath(String off, @TempDir Path directory) {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """);
        String on = off.equals("a") ? "b" : "a";
        List<VerbsProvider> verbs = new ArrayList<>();
        try (CapturedLog log = new CapturedLog();
                TestNode with = new TestNode(cluster, on, RaisingVerbs::new);
                TestNode without = new TestNode(cluster.withoutFailover(), off, RaisingVerbs::new)) {
            verbs.addAll(List.of(with.verbs(), without.verbs()));
            TestNode a = off.equals("a") ? without : with;
            TestNode b = off.equals("a") ? with : without;
            Connected first = new Connected(a, b);
            Connected second = new Connected(a, b);
            long firstReceive = receive(first);
            long secondReceive = receive(second);
            failQueuePairs(a);

            assertThat(sendUntilItFails(first)).isEqualTo(REMOTE_ERROR);
            assertThat(finish(b, firstReceive)).isEqualTo(REMOTE_ERROR);
            assertThat(sendUntilItFails(second)).isEqualTo(REMOTE_ERROR);
            assertThat(finish(b, secondReceive)).isEqualTo(REMOTE_ERROR);

            assertThat(log.lines().stream().filter(line -> line.contains("failover is off on " + off)))
                    .singleElement()
                    .asString()
                    .startsWith("INFO ")
                    .contains("TRIGON_FAILOVER");
            assertThat(log.lines()).noneMatch(line -> line.contains("failover is off on " + on));
        }
        verbs.forEach(LedgerAssert::assertNothingOpen);
    }

    private static long receive(Connected ab) {
        long to = ab.receiver.allocate(BYTES);
        long handle = ab.receiver.register(ab.receiveComm, to, BYTES);
        return retry(() -> ab.receiver.plugin.irecv(ab.receiveComm, to, BYTES, TAG, handle));
    }

    private static long sendUntilItFails(Connected ab) {
        long from = ab.sender.allocate(BYTES);
        long handle = ab.sender.register(ab.sendComm, from, BYTES);
        return ab.sendUntilItFails(from, BYTES, TAG, handle);
    }

    /** Behind the transport's back. */
    private static void failQueuePairs(TestNode node) {
        ((RaisingVerbs) node.verbs())
                .queuePairs.forEach(queuePair -> queuePair.modify(
                        QueuePairAttributes.to(QueuePairStateCode.ERROR).build()));
    }
}
