package trigon.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.transport.Connected.finish;
import static trigon.transport.Connected.outcome;
import static trigon.transport.Connected.retry;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.verbs.Memory;

/**
 * Nodes a, b and c in a row, and a goes. Once NCCL on b has been told so, it moves nothing more in that communicator; c, which
 * waits for b alone, must not wait for ever, though NCCL on b closes nothing.
 */
@Timeout(180)
class FailedCommunicatorTest {

    private static final int TAG = 5;
    private static final int BYTES = 64;
    private static final long REMOTE_ERROR = -NcclResult.REMOTE_ERROR.code();

    private final CapturedLog log = new CapturedLog();
    private TestCluster cluster;
    private TestNode a;
    private TestNode b;
    private TestNode c;
    private Connected ab;
    private Connected bc;

    @BeforeEach
    void connect(@TempDir Path directory) {
        cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.14.1/24}]}
                b: {nics: [{address: 127.1.14.2/24}]}
                c: {nics: [{address: 127.1.14.3/24}]}
                """);
        a = cluster.open("a");
        b = cluster.open("b");
        c = cluster.open("c");
        ab = new Connected(a, b);
        bc = new Connected(b, c);
    }

    @AfterEach
    void nothingIsLeftOpen() {
        for (TestNode node : new TestNode[] {a, b, c}) {
            node.close();
            assertThat(node.verbs().ledger().outstanding()).isEmpty();
        }
        log.close();
    }

    @Test
    void whoWaitsForARankThatWasToldHearsOfItAndWhatItWas() {
        long waiting = receive(bc);

        aGoesAndBIsTold();

        assertThat(finish(c, waiting)).isEqualTo(REMOTE_ERROR);
        log.await(
                "INFO",
                "communicator 0x1 has failed on b, by receiver on",
                "lost a at 127.1.14.1",
                "Its 1 other comms");
        log.await(
                "WARN",
                "receiver on",
                "lost b at 127.1.14.2",
                "which says: communicator 0x1 has failed on b, by receiver on");
    }

    @Test
    void theRanksOwnRequestsOnItsOtherConnectionsFailAsWell() {
        Connected cb = new Connected(c, b);
        long waiting = receive(cb);

        aGoesAndBIsTold();

        assertThat(finish(b, waiting)).isEqualTo(REMOTE_ERROR);
    }

    @Test
    void otherCommunicatorsGoOn() {
        long second = b.plugin.openContext(2, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
        long secondOfC = c.plugin.openContext(2, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
        Connected other = new Connected(b, second, c, secondOfC);
        long waiting = receive(bc);

        aGoesAndBIsTold();

        assertThat(finish(c, waiting)).isEqualTo(REMOTE_ERROR);
        assertMoves(other);
    }

    @Test
    void withoutANameACommunicatorIsNotKnownAndNothingElseFails() throws Exception {
        long unnamed = b.plugin.openContext(0, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
        Connected first = new Connected(a, a.context, b, unnamed);
        Connected other = new Connected(b, unnamed, c, c.context);
        long waiting = receive(first);
        aGoes();
        assertThat(finish(b, waiting)).isEqualTo(REMOTE_ERROR);

        Thread.sleep(2 * ConnectionFactory.GRACE.toMillis());

        assertMoves(other);
        assertMoves(bc);
    }

    @Test
    void aRankThatGoesWhileNobodyWaitsForItFailsNobody() throws Exception {
        aGoes();
        Thread.sleep(3 * ConnectionFactory.GRACE.toMillis());

        assertMoves(bc);
    }

    @Test
    void whatComesUpAfterwardsIsGivenUpAsWell() {
        long waiting = receive(bc);
        aGoesAndBIsTold();
        assertThat(finish(c, waiting)).isEqualTo(REMOTE_ERROR);

        long contextOfC = c.newContext();
        Connected late = new Connected(b, b.context, c, contextOfC);

        assertThat(outcomeOfReceive(late)).isEqualTo(REMOTE_ERROR);
    }

    @Test
    void whatWasSentBeforeArrivesHoweverLateItIsAskedFor() throws Exception {
        long from = b.allocate(BYTES);
        Memory.fill(from, BYTES, (byte) 9);
        long memory = b.register(bc.sendComm, from, BYTES);
        long send = retry(() -> b.plugin.isend(bc.sendComm, from, BYTES, TAG, memory));
        assertThat(finish(b, send)).isEqualTo(BYTES);

        aGoesAndBIsTold();
        Thread.sleep(3 * ConnectionFactory.GRACE.toMillis());

        assertThat(outcomeOfReceive(bc)).isEqualTo(BYTES);
        assertThat(outcomeOfReceive(bc)).isEqualTo(REMOTE_ERROR);
    }

    @Test
    void whatAnotherThreadMovesGoesOn() throws Exception {
        Thread bootstrap = new Thread(() -> assertMoves(bc));
        bootstrap.start();
        bootstrap.join();
        Connected other = new Connected(b, c);
        long waiting = receive(other);

        aGoesAndBIsTold();

        assertThat(finish(c, waiting)).isEqualTo(REMOTE_ERROR);
        assertMoves(bc);
    }

    @Test
    void whoIsSeveralNodesAwayLearnsWhereItBegan() {
        Connected ca = new Connected(c, a);
        long waitingOnA = receive(ca);
        long waitingOnC = receive(bc);
        long last = receive(ab);

        endByMismatch();

        assertThat(finish(b, last)).isEqualTo(-NcclResult.INVALID_USAGE.code());
        assertThat(finish(c, waitingOnC)).isEqualTo(REMOTE_ERROR);
        assertThat(finish(a, waitingOnA)).isEqualTo(REMOTE_ERROR);
        log.await(
                "INFO", "communicator 0x1 has failed on b, by receiver on", "LOCAL_LENGTH_ERROR", "1 other comms here");
        assertThat(log.lines())
                .noneMatch(line -> line.contains("communicator 0x1 has failed on c"))
                .noneMatch(line -> line.contains("has failed on a"));
    }

    /** a's message is longer than the receive that b waits for it with. */
    private void endByMismatch() {
        long from = a.allocate(2 * BYTES);
        long memory = a.register(ab.sendComm, from, 2 * BYTES);
        long send = retry(() -> a.plugin.isend(ab.sendComm, from, 2 * BYTES, TAG, memory));
        assertThat(finish(a, send)).isEqualTo(2 * BYTES);
    }

    private void aGoes() {
        a.close();
        a = cluster.open("a");
    }

    private void aGoesAndBIsTold() {
        long waiting = receive(ab);
        aGoes();
        assertThat(finish(b, waiting)).isEqualTo(REMOTE_ERROR);
    }

    private static long receive(Connected connected) {
        TestNode node = connected.receiver;
        long to = node.allocate(BYTES);
        long memory = node.register(connected.receiveComm, to, BYTES);
        return retry(() -> node.plugin.irecv(connected.receiveComm, to, BYTES, TAG, memory, false));
    }

    private static long outcomeOfReceive(Connected connected) {
        TestNode node = connected.receiver;
        long to = node.allocate(BYTES);
        long memory = node.register(connected.receiveComm, to, BYTES);
        return outcome(node, () -> node.plugin.irecv(connected.receiveComm, to, BYTES, TAG, memory, false));
    }

    private static void assertMoves(Connected connected) {
        TestNode sender = connected.sender;
        long from = sender.allocate(BYTES);
        Memory.fill(from, BYTES, (byte) 7);
        long memory = sender.register(connected.sendComm, from, BYTES);
        long receive = receive(connected);
        long send = retry(() -> sender.plugin.isend(connected.sendComm, from, BYTES, TAG, memory));
        assertThat(finish(sender, send)).isEqualTo(BYTES);
        assertThat(finish(connected.receiver, receive)).isEqualTo(BYTES);
    }
}
