package trigon.transport.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.transport.testsupport.Connected.finish;
import static trigon.transport.testsupport.Connected.retry;

import org.junit.jupiter.api.Timeout;
import trigon.nccl.NcclResult;
import trigon.testsupport.LedgerAssert;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/**
 * A connection that ends with its path, whose link goes down under it, as an RDMA device reports it. A subclass does
 * that to a real one.
 */
@Timeout(120)
public abstract class LinkDownContract {

    private static final int TAG = 11;

    /** Does something to the link. */
    protected interface LinkChange {
        void run() throws Exception;
    }

    /**
     * Takes the link between nodes a and b down and up again: what is under way fails, the log names the port, and a
     * new connection works.
     */
    protected final void aLinkThatGoesDownIsNamedAndFailsWhatIsUnderWay(
            TestCluster cluster, LinkChange down, LinkChange up) throws Exception {
        try (CapturedLog log = new CapturedLog()) {
            cluster.withoutFailover();
            TestNode a = cluster.open("a");
            TestNode b = cluster.open("b");
            try {
                Connected before = new Connected(a, b);
                assertThat(send(before)).isEqualTo(8);

                down.run();
                log.await("WARN", "PORT_ERROR", a.links.getFirst().toString(), "ip link show");
                log.await("WARN", "PORT_ERROR", b.links.getFirst().toString(), "ip link show");
                long receive = retry(() -> b.plugin.irecv(before.receiveComm, 0, 0, TAG, 0));
                assertThat(finish(b, receive)).isEqualTo(-NcclResult.REMOTE_ERROR.code());

                up.run();
                log.await("INFO", "PORT_ACTIVE", a.links.getFirst().toString());
                log.await("INFO", "PORT_ACTIVE", b.links.getFirst().toString());
                assertThat(send(Connected.anew(a, b))).isEqualTo(8);
            } finally {
                a.close();
                b.close();
            }
            LedgerAssert.assertNothingOpen(a.verbs());
            LedgerAssert.assertNothingOpen(b.verbs());
        }
    }

    private static long send(Connected connection) {
        TestNode a = connection.sender;
        TestNode b = connection.receiver;
        long from = a.allocate(8);
        long to = b.allocate(8);
        long fromHandle = a.register(connection.sendComm, from, 8);
        long toHandle = b.register(connection.receiveComm, to, 8);
        long receive = retry(() -> b.plugin.irecv(connection.receiveComm, to, 8, TAG, toHandle));
        long send = retry(() -> a.plugin.isend(connection.sendComm, from, 8, TAG, fromHandle));
        assertThat(finish(a, send)).isEqualTo(8);
        return finish(b, receive);
    }
}
