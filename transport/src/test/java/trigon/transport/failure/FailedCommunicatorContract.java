package trigon.transport.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.transport.testsupport.Connected.finish;
import static trigon.transport.testsupport.Connected.outcome;
import static trigon.transport.testsupport.Connected.retry;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.testsupport.LedgerAssert;
import trigon.transport.connect.PathFactory;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.RaisingVerbs;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;

/**
 * Nodes a, b and c in a row, and a goes. Once NCCL on b has been told so, it moves nothing more in that communicator;
 * c, which waits for b alone, must not wait for ever, though NCCL on b closes nothing. A subclass says what links there
 * are.
 */
@Timeout(180)
public abstract class FailedCommunicatorContract {

    private static final int TAG = 5;
    private static final int MESSAGES = 20;
    static final int BYTES = 64;
    static final long REMOTE_ERROR = -NcclResult.REMOTE_ERROR.code();

    /** Longer than any end of a connection takes to be told of, and to be noticed. */
    static final Duration LONG_AFTERWARDS = PathFactory.GRACE.multipliedBy(3);

    private final CapturedLog log = new CapturedLog();
    private TestCluster cluster;
    private TestNode a;
    TestNode b;
    private TestNode c;
    private Connected ab;
    Connected bc;

    /** Three nodes, a, b and c, each with a link to each of the others. */
    protected abstract TestCluster cluster(Path directory);

    @BeforeEach
    void connect(@TempDir Path directory) {
        cluster = cluster(directory).withPassingTime();
        openNodes();
    }

    private void openNodes() {
        a = cluster.open("a");
        b = new TestNode(cluster, "b", RaisingVerbs::new);
        c = cluster.open("c");
        ab = new Connected(a, b);
        bc = new Connected(b, c);
    }

    @AfterEach
    void nothingIsLeftOpen() {
        closeNodes();
        log.close();
    }

    private void closeNodes() {
        for (TestNode node : new TestNode[] {a, b, c}) {
            node.close();
            LedgerAssert.assertNothingOpen(node.verbs());
        }
    }

    @Test
    void whoWaitsForARankThatWasToldHearsOfItAndWhatItWas() {
        long waiting = receive(bc);

        aGoesAndBIsTold();

        assertThat(finish(c, waiting)).isEqualTo(REMOTE_ERROR);
        log.await(
                b,
                "INFO",
                "communicator 0x1 has failed on b, by receiver on",
                "lost a at " + addressOf(a),
                "Its 1 other comms");
        log.await(
                b,
                "WARN",
                "receiver on",
                "lost b at ",
                "the peer's end failed: communicator 0x1 has failed on b, by receiver on");
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

        b.pass(LONG_AFTERWARDS);
        awaitControlThreads();

        assertMoves(other);
        assertMoves(bc);
    }

    @Test
    void aRankThatGoesWhileNobodyWaitsForItFailsNobody() throws Exception {
        aGoes();
        b.pass(LONG_AFTERWARDS);
        awaitControlThreads();

        assertMoves(bc);
    }

    /** What was due is done: they end when they have nothing to do. */
    private static void awaitControlThreads() {
        Await.until(
                "the control threads have ended",
                () -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().startsWith("trigon-control-")));
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

    /** More messages than one poll of a completion queue takes, and the next receive finds that the peer is gone. */
    @Test
    void whatWasSentBeforeArrivesHoweverLateItIsAskedFor() throws Exception {
        List<Long> receives = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            receives.add(receive(bc));
        }
        for (int i = 0; i < MESSAGES; i++) {
            assertThat(send(bc)).isEqualTo(BYTES);
        }

        aGoesAndBIsTold();
        b.pass(LONG_AFTERWARDS);

        assertThat(outcomeOfReceive(bc)).isEqualTo(REMOTE_ERROR);
        for (long receive : receives) {
            assertThat(finish(c, receive)).isEqualTo(BYTES);
        }
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
        closeNodes();
        cluster.withoutFailover(); // which would mend what is planted here
        openNodes();
        Connected ca = new Connected(c, a);
        long waitingOnA = receive(ca);
        long waitingOnC = receive(bc);
        long last = receive(ab);

        failQueuePairs(b);

        assertThat(finish(b, last)).isEqualTo(REMOTE_ERROR);
        assertThat(finish(c, waitingOnC)).isEqualTo(REMOTE_ERROR);
        assertThat(finish(a, waitingOnA)).isEqualTo(REMOTE_ERROR);
        log.await(b, "INFO", "communicator 0x1 has failed on b, by receiver on", "1 other comms here");
        assertThat(log.lines())
                .noneMatch(line -> line.contains("communicator 0x1 has failed on c"))
                .noneMatch(line -> line.contains("has failed on a"));
    }

    /** Behind the transport's back: b's end of the connection from a, which was its first. */
    private static void failQueuePairs(TestNode b) {
        List<QueuePair> queuePairs = ((RaisingVerbs) b.verbs()).queuePairs;
        queuePairs
                .getFirst()
                .modify(QueuePairAttributes.to(QueuePairStateCode.ERROR).build());
    }

    private static String addressOf(TestNode node) {
        return node.links.getFirst().address().address().getHostAddress();
    }

    private void aGoes() {
        a.close();
        a = cluster.open("a");
    }

    final void aGoesAndBIsTold() {
        long waiting = receive(ab);
        aGoes();
        assertThat(finish(b, waiting)).isEqualTo(REMOTE_ERROR);
    }

    private static long receive(Connected connected) {
        TestNode node = connected.receiver;
        long to = node.allocate(BYTES);
        long memory = node.register(connected.receiveComm, to, BYTES);
        return retry(() -> node.plugin.irecv(connected.receiveComm, to, BYTES, TAG, memory));
    }

    static long outcomeOfReceive(Connected connected) {
        TestNode node = connected.receiver;
        long to = node.allocate(BYTES);
        long memory = node.register(connected.receiveComm, to, BYTES);
        return outcome(node, () -> node.plugin.irecv(connected.receiveComm, to, BYTES, TAG, memory));
    }

    private static void assertMoves(Connected connected) {
        long receive = receive(connected);
        assertThat(send(connected)).isEqualTo(BYTES);
        assertThat(finish(connected.receiver, receive)).isEqualTo(BYTES);
    }

    /** A message that is done, or failed, at its sender. */
    static long send(Connected connected) {
        TestNode sender = connected.sender;
        long from = sender.allocate(BYTES);
        Memory.fill(from, BYTES, (byte) 7);
        long memory = sender.register(connected.sendComm, from, BYTES);
        return finish(sender, retry(() -> sender.plugin.isend(connected.sendComm, from, BYTES, TAG, memory)));
    }
}
