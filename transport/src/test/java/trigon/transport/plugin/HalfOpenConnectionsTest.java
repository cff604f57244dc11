package trigon.transport.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
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
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;
import trigon.verbs.ResourceLedger.Kind;

/** Connections that come up and that NCCL never asks for, in a context that has no end: they go, and only they. */
@Timeout(120)
class HalfOpenConnectionsTest {

    private static final long REMOTE_ERROR = -NcclResult.REMOTE_ERROR.code();
    private static final int TAG = 3;

    /** Looks after which a connection that nobody asks for is closed. */
    private static final int PATIENCE = 60;

    @TempDir
    Path directory;

    private TestNode a;
    private TestNode b;
    private long handle;
    private long listenComm;
    private CapturedLog log;

    @BeforeEach
    void openTwoNodes() {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.9.12.1/24}]}
                b: {nics: [{address: 127.9.12.2/24}]}
                """);
        log = new CapturedLog();
        a = cluster.open("a");
        b = cluster.open("b");
        handle = b.allocate(NetPlugin.HANDLE_BYTES);
        listenComm = b.plugin.listen(b.context, 0, handle);
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
    void aConnectionThatIsNeverAcceptedGoesAndItsSenderHears() {
        long sendComm = retry(this::connect);
        Await.until(
                "the receiver's end is up",
                () -> log.lines().stream().anyMatch(line -> line.contains("receives from")));
        look(b, PATIENCE - 1);
        assertThat(queuePairs(b)).isEqualTo(1);

        look(b, 1);

        Await.until("the receiver's end goes", () -> queuePairs(b) == 0);
        log.await("WARN receiver on", "peer a at 127.9.12.1 is closed", "NCCL has not called accept");
        assertThatThrownBy(() -> b.plugin.accept(listenComm)).hasMessageContaining("is not an open listen comm");
        long memory = a.allocate(8);
        long memoryHandle = a.register(sendComm, memory, 8);
        Await.until("the sender hears", () -> {
            long send = a.plugin.isend(sendComm, memory, 8, TAG, memoryHandle);
            return send == REMOTE_ERROR || (send > 0 && finish(a, send) == REMOTE_ERROR);
        });
        a.plugin.closeSend(sendComm);
    }

    @Test
    void aConnectionThatIsGivenUpByTheSenderGoesAndTheReceiverHears() {
        assertThat(connect()).isZero();
        long receiveComm = retry(() -> b.plugin.accept(listenComm));
        Await.until("the sender's end is up", () -> log.lines().stream().anyMatch(line -> line.contains("sends to")));
        long memory = b.allocate(8);
        long memoryHandle = b.register(receiveComm, memory, 8);
        long receive = retry(() -> b.plugin.irecv(receiveComm, memory, 8, TAG, memoryHandle));

        // the result is there a moment after the line
        Await.until("the sender's end goes", () -> {
            look(a, PATIENCE);
            return queuePairs(a) == 0;
        });

        log.await("WARN the connection to b is closed", "NCCL has not called connect again");
        assertThat(finish(b, receive)).isEqualTo(REMOTE_ERROR);
        assertThatThrownBy(this::connect).hasMessageContaining("belongs to a connection that was closed");
        b.plugin.closeReceive(receiveComm);
    }

    @Test
    void aConnectionThatFailedAndIsGivenUpIsForgotten() {
        b.plugin.closeListen(listenComm);
        assertThat(connect()).isZero();
        Await.until(
                "the attempt fails", () -> log.lines().stream().anyMatch(line -> line.contains("no connection to b")));

        Await.until("a look finds it no more", () -> {
            long before = linesThatSayClosed();
            look(a, PATIENCE);
            return before > 0 && linesThatSayClosed() == before;
        });

        assertThatThrownBy(this::connect).hasMessageContaining("belongs to a connection that was closed");
    }

    @Test
    void whatNcclStillAsksForStays() {
        look(b, 2 * PATIENCE); // nobody has come yet: NCCL may wait for as long as it likes
        assertThat(b.plugin.accept(listenComm)).isZero();
        assertThat(connect()).isZero();
        Await.until("both ends are up", () -> log.lines().stream().anyMatch(line -> line.contains("sends to")));
        look(a, PATIENCE - 2);
        look(b, PATIENCE - 2);
        long sendComm = retry(this::connect);
        long receiveComm = retry(() -> b.plugin.accept(listenComm));
        look(a, 2 * PATIENCE);
        look(b, 2 * PATIENCE);

        long from = a.allocate(8);
        long to = b.allocate(8);
        long fromHandle = a.register(sendComm, from, 8);
        long toHandle = b.register(receiveComm, to, 8);
        long receive = retry(() -> b.plugin.irecv(receiveComm, to, 8, TAG, toHandle));
        long send = retry(() -> a.plugin.isend(sendComm, from, 8, TAG, fromHandle));
        assertThat(finish(a, send)).isEqualTo(8);
        assertThat(finish(b, receive)).isEqualTo(8);
        a.plugin.closeSend(sendComm);
        b.plugin.closeReceive(receiveComm);
    }

    private long linesThatSayClosed() {
        return log.lines().stream()
                .filter(line -> line.startsWith("WARN the connection to b is closed"))
                .count();
    }

    private long connect() {
        return a.plugin.connect(a.context, 0, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
    }

    private static void look(TestNode node, int times) {
        for (int i = 0; i < times; i++) {
            node.lookForHalfOpen();
        }
    }

    private static int queuePairs(TestNode node) {
        return node.verbs().ledger().count(Kind.QUEUE_PAIR);
    }
}
