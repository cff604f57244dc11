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
import trigon.system.Memory;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.RaisingVerbs;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;

/**
 * Without failover, a queue pair that goes to the error state while nothing is posted on it, and no event of the device
 * says so: nothing completes with an error, so whoever uses the connection next finds out, and then the other end. A
 * subclass says what links there are.
 */
@Timeout(120)
public abstract class QueuePairErrorContract {

    private static final int TAG = 3;
    private static final int BYTES = 4096;
    private static final long REMOTE_ERROR = -NcclResult.REMOTE_ERROR.code();

    private TestNode a;
    private TestNode b;
    private Connected ab;
    private long from;
    private long to;
    private long fromHandle;
    private long toHandle;

    /** Two nodes, a and b. */
    protected abstract TestCluster cluster(Path directory);

    @BeforeEach
    void connectAndUseIt(@TempDir Path directory) {
        TestCluster cluster = cluster(directory).withoutFailover();
        a = new TestNode(cluster, "a", RaisingVerbs::new);
        b = new TestNode(cluster, "b", RaisingVerbs::new);
        ab = new Connected(a, b);
        from = a.allocate(BYTES);
        to = b.allocate(BYTES);
        fromHandle = a.register(ab.sendComm, from, BYTES);
        toHandle = b.register(ab.receiveComm, to, BYTES);
        Memory.fill(from, BYTES, (byte) 9);
        long receive = retry(() -> b.plugin.irecv(ab.receiveComm, to, BYTES, TAG, toHandle));
        long send = retry(() -> a.plugin.isend(ab.sendComm, from, BYTES, TAG, fromHandle));
        assertThat(finish(a, send)).isEqualTo(BYTES);
        assertThat(finish(b, receive)).isEqualTo(BYTES);
    }

    @AfterEach
    void nothingIsLeftOpen() {
        a.close();
        b.close();
        assertThat(a.verbs().ledger().outstanding()).isEmpty();
        assertThat(b.verbs().ledger().outstanding()).isEmpty();
    }

    @Test
    void theReceiversIsNoticedByItsNextReceiveAndThenByTheSender() {
        fail(b);

        assertThat(receiveUntilItFails()).isEqualTo(REMOTE_ERROR);
        assertThat(ab.sendUntilItFails(from, BYTES, TAG, fromHandle)).isEqualTo(REMOTE_ERROR);
    }

    @Test
    void theSendersIsNoticedByItsNextSendAndThenByTheReceiverThatWaits() {
        long receive = retry(() -> b.plugin.irecv(ab.receiveComm, to, BYTES, TAG, toHandle));
        // the receiver's clear-to-send, if there is one, is acknowledged: nothing is on its way when the error comes
        long acknowledged = System.nanoTime() + 300_000_000L;
        while (System.nanoTime() < acknowledged) {
            assertThat(b.plugin.test(receive)).isEqualTo(NetPlugin.NOT_DONE);
        }
        fail(a);

        assertThat(ab.sendUntilItFails(from, BYTES, TAG, fromHandle)).isEqualTo(REMOTE_ERROR);
        assertThat(finish(b, receive)).isEqualTo(REMOTE_ERROR);
    }

    /** Between the same nodes, as NCCL would when its communicator is made anew. */
    @Test
    void aNewConnectionWorks() {
        fail(a);
        fail(b);
        assertThat(receiveUntilItFails()).isEqualTo(REMOTE_ERROR);
        assertThat(ab.sendUntilItFails(from, BYTES, TAG, fromHandle)).isEqualTo(REMOTE_ERROR);
        a.plugin.closeSend(ab.sendComm);
        b.plugin.closeReceive(ab.receiveComm);

        Connected anew = Connected.anew(a, b);
        long sendHandle = a.register(anew.sendComm, from, BYTES);
        long receiveHandle = b.register(anew.receiveComm, to, BYTES);
        long receive = retry(() -> b.plugin.irecv(anew.receiveComm, to, BYTES, TAG, receiveHandle));
        long send = retry(() -> a.plugin.isend(anew.sendComm, from, BYTES, TAG, sendHandle));
        assertThat(finish(a, send)).isEqualTo(BYTES);
        assertThat(finish(b, receive)).isEqualTo(BYTES);
    }

    /** Behind the transport's back, and with no event of the device. */
    private static void fail(TestNode node) {
        RaisingVerbs verbs = (RaisingVerbs) node.verbs();
        assertThat(verbs.queuePairs).isNotEmpty();
        for (QueuePair queuePair : verbs.queuePairs) {
            queuePair.modify(QueuePairAttributes.to(QueuePairStateCode.ERROR).build());
        }
    }

    private long receiveUntilItFails() {
        return Connected.failure(b, () -> b.plugin.irecv(ab.receiveComm, to, BYTES, TAG, toHandle));
    }
}
