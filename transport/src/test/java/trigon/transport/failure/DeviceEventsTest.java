package trigon.transport.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.transport.testsupport.Connected.finish;
import static trigon.transport.testsupport.Connected.retry;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;
import trigon.testsupport.Await;
import trigon.testsupport.TcpSockets;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.RaisingVerbs;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;
import trigon.verbs.AsyncEvent;
import trigon.verbs.AsyncEventType;
import trigon.verbs.GidEntry;
import trigon.verbs.QueuePair;

/** What follows from the asynchronous events of node b's device; a sends to b, over two connections. */
@Timeout(180)
class DeviceEventsTest {

    private static final int TAG = 5;
    private static final long REMOTE_ERROR = -NcclResult.REMOTE_ERROR.code();
    private static final long SYSTEM_ERROR = -NcclResult.SYSTEM_ERROR.code();

    private final CapturedLog log = new CapturedLog();

    private RaisingVerbs verbs;
    private TestNode a;
    private TestNode b;
    private Connected first;
    private Connected second;
    private long from;
    private long to;
    private long firstFrom;
    private long firstTo;
    private long secondFrom;
    private long secondTo;

    @BeforeEach
    void connect(@TempDir Path directory) {
        TestCluster cluster = TestCluster.software(directory, """
            a: {nics: [{address: 127.1.12.1/24}]}
            b: {nics: [{address: 127.1.12.2/24}]}
            """).withoutFailover();
        a = cluster.open("a");
        b = new TestNode(cluster, "b", RaisingVerbs::new);
        verbs = (RaisingVerbs) b.verbs();
        first = new Connected(a, b);
        // of another communicator, which a failure of the first is no matter for
        second = new Connected(a, openSecond(a), b, openSecond(b));
        from = a.allocate(4096);
        to = b.allocate(4096);
        firstFrom = a.register(first.sendComm, from, 4096);
        firstTo = b.register(first.receiveComm, to, 4096);
        secondFrom = a.register(second.sendComm, from, 4096);
        secondTo = b.register(second.receiveComm, to, 4096);
    }

    @Test
    void aWayBackThatIsMissingForAMomentIsWaitedFor() {
        verbs.withoutWay.set(3);

        assertThat(new Connected(a, b).receiveComm).isNotZero();
        assertThat(verbs.withoutWay).hasValue(0);
    }

    @AfterEach
    void nothingIsLeftOpen() {
        a.close();
        b.close();
        log.close();
        assertThat(a.verbs().ledger().outstanding()).isEmpty();
        assertThat(b.verbs().ledger().outstanding()).isEmpty();
    }

    @Test
    void aFailedQueuePairFailsItsCommAndNoOtherCommunicator() {
        long receive = retry(() -> b.plugin.irecv(first.receiveComm, to, 8, TAG, firstTo));

        verbs.raise(new AsyncEvent.OfQueuePair(AsyncEventType.QUEUE_PAIR_FATAL, verbs.queuePairs.getFirst()));

        assertThat(finish(b, receive)).isEqualTo(SYSTEM_ERROR);
        assertThat(b.plugin.irecv(first.receiveComm, to, 8, TAG, firstTo)).isEqualTo(SYSTEM_ERROR);
        log.await("WARN", "receiver on", "QUEUE_PAIR_FATAL", "could not report that as a completion", "dmesg");
        assertThat(untilTheSenderFails(first, firstFrom)).isEqualTo(REMOTE_ERROR);
        // a warning, or what follows one where the sender had a message under way
        log.await("", "sender on", "the peer's end failed", "QUEUE_PAIR_FATAL");
        secondCarriesAMessage();
    }

    @Test
    void aFailedQueuePairWithNothingPostedIsNoticedByBothEnds() {
        verbs.raise(new AsyncEvent.OfQueuePair(AsyncEventType.QUEUE_PAIR_FATAL, verbs.queuePairs.getFirst()));

        assertThat(untilTheSenderFails(first, firstFrom)).isEqualTo(REMOTE_ERROR);
        assertThat(b.plugin.irecv(first.receiveComm, to, 8, TAG, firstTo)).isEqualTo(SYSTEM_ERROR);
    }

    @Test
    void whatNcclHasNotAskedAboutFailsNothingElseOfItsCommunicator() {
        Connected sameCommunicator = new Connected(a, b);
        long memory = b.register(sameCommunicator.receiveComm, to, 4096);
        long fromMemory = a.register(sameCommunicator.sendComm, from, 4096);

        verbs.raise(new AsyncEvent.OfQueuePair(AsyncEventType.QUEUE_PAIR_FATAL, verbs.queuePairs.getFirst()));
        log.await("WARN", "QUEUE_PAIR_FATAL");

        long receive = retry(() -> b.plugin.irecv(sameCommunicator.receiveComm, to, 8, TAG, memory));
        long send = retry(() -> a.plugin.isend(sameCommunicator.sendComm, from, 8, TAG, fromMemory));
        assertThat(finish(b, receive)).isEqualTo(8);
        assertThat(finish(a, send)).isEqualTo(8);
        long next = retry(() -> b.plugin.irecv(sameCommunicator.receiveComm, to, 8, TAG, memory));
        assertThat(b.plugin.irecv(first.receiveComm, to, 8, TAG, firstTo)).isEqualTo(SYSTEM_ERROR);
        assertThat(finish(b, next)).isEqualTo(SYSTEM_ERROR);
    }

    @Test
    void whatThePeerDidWrongIsARemoteError() {
        long receive = retry(() -> b.plugin.irecv(first.receiveComm, to, 8, TAG, firstTo));

        verbs.raise(new AsyncEvent.OfQueuePair(AsyncEventType.QUEUE_PAIR_ACCESS_ERROR, verbs.queuePairs.getFirst()));

        assertThat(finish(b, receive)).isEqualTo(REMOTE_ERROR);
        log.await("WARN", "receiver on", "QUEUE_PAIR_ACCESS_ERROR", "not registered");
    }

    @Test
    void aFailedCompletionQueueFailsRequestsThoughItReportsNothing() {
        long receive = retry(() -> b.plugin.irecv(first.receiveComm, to, 8, TAG, firstTo));
        verbs.silent = true;

        verbs.raise(new AsyncEvent.OfCompletionQueue(
                AsyncEventType.COMPLETION_QUEUE_ERROR, verbs.completionQueues.getFirst()));

        assertThat(finish(b, receive)).isEqualTo(SYSTEM_ERROR);
        log.await("WARN", "receiver on", "COMPLETION_QUEUE_ERROR", "reports nothing more");
    }

    @Test
    void aFailedDeviceFailsAllItsComms() {
        long one = retry(() -> b.plugin.irecv(first.receiveComm, to, 8, TAG, firstTo));
        long other = retry(() -> b.plugin.irecv(second.receiveComm, to, 8, TAG, secondTo));

        verbs.raise(new AsyncEvent.OfDevice(AsyncEventType.DEVICE_FATAL));

        assertThat(finish(b, one)).isEqualTo(SYSTEM_ERROR);
        assertThat(finish(b, other)).isEqualTo(SYSTEM_ERROR);
        log.await("WARN", "DEVICE_FATAL", "All connections over", "127.1.12.2", "restart the job");
    }

    @Test
    void aMessageThatHasArrivedCountsThoughTheQueuePairHasFailed() {
        long receive = retry(() -> b.plugin.irecv(first.receiveComm, to, 8, TAG, firstTo));
        long send = retry(() -> a.plugin.isend(first.sendComm, from, 8, TAG, firstFrom));
        assertThat(finish(a, send)).isEqualTo(8);

        verbs.raise(new AsyncEvent.OfQueuePair(AsyncEventType.QUEUE_PAIR_FATAL, verbs.queuePairs.getFirst()));
        log.await("WARN", "QUEUE_PAIR_FATAL");

        assertThat(finish(b, receive)).isEqualTo(8);
        assertThat(b.plugin.irecv(first.receiveComm, to, 8, TAG, firstTo)).isEqualTo(SYSTEM_ERROR);
    }

    /** As by a firewall that forgets it, or {@code ss -K}: the first of b's two connections, and nothing else. */
    @Test
    void aBrokenDataConnectionIsToldToBothEndsThoughNothingIsUnderWayAtOne() {
        long receive = retry(() -> b.plugin.irecv(first.receiveComm, to, 8, TAG, firstTo));
        long send = retry(() -> a.plugin.isend(first.sendComm, from, 8, TAG, firstFrom));
        assertThat(finish(b, receive)).isEqualTo(8);
        assertThat(finish(a, send)).isEqualTo(8);
        long waiting = retry(() -> b.plugin.irecv(first.receiveComm, to, 8, TAG, firstTo));

        int port = verbs.devices.getFirst().queryPort(1).lid();
        TcpSockets.shutDown(TcpSockets.connectedTo(port).getFirst());

        assertThat(finish(b, waiting)).isEqualTo(REMOTE_ERROR);
        log.await("WARN", "on lo ", "CONNECTION_BROKEN", "though the peer is alive", "firewall");
        assertThat(untilTheSenderFails(first, firstFrom)).isEqualTo(REMOTE_ERROR);
        secondCarriesAMessage();
    }

    @Test
    void aPeerThatLetsGoIsNoBrokenConnection() {
        long receive = retry(() -> b.plugin.irecv(first.receiveComm, to, 8, TAG, firstTo));
        long send = retry(() -> a.plugin.isend(first.sendComm, from, 8, TAG, firstFrom));
        assertThat(finish(a, send)).isEqualTo(8);
        QueuePair left = verbs.queuePairs.getFirst();

        a.plugin.closeSend(first.sendComm);

        log.await("INFO", "receiver on", "the peer has closed its end");
        // as the device does where the end of the connection comes before that of the lifeline
        verbs.raise(new AsyncEvent.OfQueuePair(AsyncEventType.CONNECTION_BROKEN, left));
        verbs.raise(new AsyncEvent.OfPort(AsyncEventType.GID_CHANGE, 1));
        log.await("INFO", "GID_CHANGE", "still there"); // so what came before it has been looked at
        assertThat(finish(b, receive)).as("what had come").isEqualTo(8);
        secondCarriesAMessage();
        assertThat(log.lines()).noneMatch(line -> line.startsWith("WARN"));
    }

    @Test
    void aPortThatGoesDownAndUpIsLoggedWithItsLinkAndFailsNothing() {
        verbs.raise(new AsyncEvent.OfPort(AsyncEventType.PORT_ERROR, 1));
        verbs.raise(new AsyncEvent.OfPort(AsyncEventType.PORT_ACTIVE, 1));
        verbs.raise(new AsyncEvent.OfPort(AsyncEventType.PORT_ERROR, 2));

        log.await("WARN", "port 1", "127.1.12.2", "PORT_ERROR", "the port's link is down", "ip link show");
        log.await("INFO", "port 1", "127.1.12.2", "PORT_ACTIVE");
        assertThat(log.lines()).noneMatch(line -> line.contains("port 2"));
        secondCarriesAMessage();
    }

    @Test
    void aChangedGidTableIsAWarningOnlyIfAGidInUseIsGone() {
        verbs.raise(new AsyncEvent.OfPort(AsyncEventType.GID_CHANGE, 1));
        log.await("INFO", "GID_CHANGE", "still there");
        // an address that was removed and is back may have another place
        verbs.gid = entry -> new GidEntry(entry.index() + 3, entry.gid(), entry.type(), entry.interfaceIndex());
        verbs.raise(new AsyncEvent.OfPort(AsyncEventType.GID_CHANGE, 1));
        Await.until(
                "the second",
                () -> log.lines().stream()
                                .filter(line -> line.contains("still there"))
                                .count()
                        == 2);
        assertThat(log.lines()).noneMatch(line -> line.startsWith("WARN"));

        verbs.gidGone = true;
        verbs.raise(new AsyncEvent.OfPort(AsyncEventType.GID_CHANGE, 1));
        log.await("WARN", "GID_CHANGE", "is gone", "127.1.12.2", "ip addr");
    }

    @Test
    void eventsThatCannotBeReadAreAWarningAndNothingElse() {
        verbs.breakEvents();

        log.await("WARN", "no longer reports its own failures", "EIO");
        secondCarriesAMessage();
    }

    @Test
    void anEventOfAConnectionThatIsClosedIsNothing() {
        var gone = verbs.queuePairs.getFirst();
        b.plugin.closeReceive(first.receiveComm);
        a.plugin.closeSend(first.sendComm);

        verbs.raise(new AsyncEvent.OfQueuePair(AsyncEventType.QUEUE_PAIR_FATAL, gone));

        Await.until("the event is read", verbs::isReadOut);
        secondCarriesAMessage();
        assertThat(log.lines()).noneMatch(line -> line.contains("QUEUE_PAIR_FATAL"));
    }

    private static long openSecond(TestNode node) {
        return node.plugin.openContext(2, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
    }

    private void secondCarriesAMessage() {
        long receive = retry(() -> b.plugin.irecv(second.receiveComm, to, 8, TAG, secondTo));
        long send = retry(() -> a.plugin.isend(second.sendComm, from, 8, TAG, secondFrom));
        assertThat(finish(a, send)).isEqualTo(8);
        assertThat(finish(b, receive)).isEqualTo(8);
    }

    private long untilTheSenderFails(Connected connection, long memory) {
        return connection.sendUntilItFails(from, 8, TAG, memory);
    }
}
