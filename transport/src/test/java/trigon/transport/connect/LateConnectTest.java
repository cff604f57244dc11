package trigon.transport.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.transport.testsupport.Connected.finish;
import static trigon.transport.testsupport.Connected.retry;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.nccl.NetPlugin;
import trigon.testsupport.Await;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.TcpSockets;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/** A connection whose sender NCCL takes late, and whose path has failed by then. */
@Timeout(180)
class LateConnectTest {

    private static final int TAG = 5;
    private static final Set<String> ADDRESSES = Set.of("127.1.16.1", "127.1.16.2");

    /** Longer than a refusal has to last to be believed. */
    private static final Duration LATE = Duration.ofSeconds(3);

    @Test
    void goesOnThoughThePathBreaksBeforeTheSenderIsTaken(@TempDir Path directory) throws Exception {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.1.16.1/24}]}
                b: {nics: [{address: 127.1.16.2/24}]}
                """, "");
        TestNode a = cluster.open("a");
        TestNode b = cluster.open("b");
        try (a;
                b) {
            long handle = b.allocate(NetPlugin.HANDLE_BYTES);
            long listenComm = b.plugin.listen(b.context, 0, handle);
            LongSupplier connect = () -> a.plugin.connect(a.context, 0, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            assertThat(connect.getAsLong()).isZero();
            long receiveComm = comm(() -> b.plugin.accept(listenComm));
            b.plugin.closeListen(listenComm);

            TcpSockets.between(ADDRESSES, _ -> true).forEach(TcpSockets::shutDownUnlessOver);
            Thread.sleep(LATE); // what is tried is a length of time
            long sendComm = comm(connect);

            long to = b.allocate(8);
            long toHandle = b.register(receiveComm, to, 8);
            long from = a.allocate(8);
            long fromHandle = a.register(sendComm, from, 8);
            long receive = retry(() -> b.plugin.irecv(receiveComm, to, 8, TAG, toHandle));
            long send = retry(() -> a.plugin.isend(sendComm, from, 8, TAG, fromHandle));
            assertThat(finish(a, send)).isEqualTo(8);
            assertThat(finish(b, receive)).isEqualTo(8);
        }
        LedgerAssert.assertNothingOpen(a.verbs());
        LedgerAssert.assertNothingOpen(b.verbs());
    }

    private static long comm(LongSupplier call) {
        long[] comm = {0};
        Await.until("a comm", () -> {
            comm[0] = call.getAsLong();
            return comm[0] != 0;
        });
        return comm[0];
    }
}
