package trigon.transport.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.nccl.NetPlugin;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/** Eight ranks connect to each other all at once, each from one thread that polls, in any order. */
@Timeout(120)
class AllToAllTest {

    private static final int RANKS = 8;
    private final long[][] handles = new long[RANKS][RANKS];

    @Test
    void allRanksConnectToAllAtOnceWithoutDeadlock(@TempDir Path directory) throws Exception {
        long seed = System.nanoTime();
        System.err.println("seed " + seed);
        StringBuilder nodes = new StringBuilder();
        for (int rank = 0; rank < RANKS; rank++) {
            nodes.append("n%d: {nics: [{address: 127.1.50.%d/24}]}%n".formatted(rank, rank + 1));
        }
        TestCluster file = TestCluster.software(directory, nodes.toString());
        List<TestNode> cluster = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            cluster.add(file.open("n" + rank));
        }
        CyclicBarrier listening = new CyclicBarrier(RANKS);
        try (ExecutorService threads = Executors.newFixedThreadPool(RANKS)) {
            List<Future<?>> runs = new ArrayList<>();
            for (int rank = 0; rank < RANKS; rank++) {
                int me = rank;
                runs.add(threads.submit(() -> {
                    run(cluster.get(me), me, listening, new Random(seed + me));
                    return null;
                }));
            }
            for (Future<?> run : runs) {
                run.get(100, TimeUnit.SECONDS);
            }
        }
        for (TestNode node : cluster) {
            node.close();
            assertThat(node.verbs().ledger().outstanding()).isEmpty();
        }
    }

    private void run(TestNode node, int me, CyclicBarrier listening, Random random) throws Exception {
        long[] listenComms = new long[RANKS];
        long[] sends = new long[RANKS];
        long[] receives = new long[RANKS];
        List<Integer> peers = new ArrayList<>();
        for (int peer = 0; peer < RANKS; peer++) {
            if (peer != me) {
                peers.add(peer);
                handles[peer][me] = node.allocate(NetPlugin.HANDLE_BYTES);
                listenComms[peer] = node.plugin.listen(node.context, 0, handles[peer][me]);
            }
        }
        listening.await(60, TimeUnit.SECONDS);
        List<Integer> order = new ArrayList<>(peers);
        Await.until(() -> "connections of rank %d to %s".formatted(me, order), Await.DEADLINE, () -> {
            Collections.shuffle(order, random);
            for (int peer : order) {
                if (sends[peer] == 0 && random.nextBoolean()) {
                    sends[peer] =
                            node.plugin.connect(node.context, 0, handles[me][peer], NetPlugin.TRAFFIC_CLASS_UNDEFINED);
                }
                if (receives[peer] == 0 && random.nextBoolean()) {
                    receives[peer] = node.plugin.accept(listenComms[peer]);
                }
            }
            order.removeIf(peer -> sends[peer] != 0 && receives[peer] != 0);
            return order.isEmpty();
        });
        for (int peer : peers) {
            node.plugin.closeListen(listenComms[peer]);
        }
        exchange(node, me, peers, sends, receives);
    }

    /** Every rank sends its number to every other. */
    private static void exchange(TestNode node, int me, List<Integer> peers, long[] sends, long[] receives) {
        long out = node.allocate(8);
        long in = node.allocate(8 * RANKS);
        Memory.putLong(out, me + 1);
        long[] pending = new long[RANKS];
        long[] sending = new long[RANKS];
        for (int peer : peers) {
            long handle = node.register(receives[peer], in + 8L * peer, 8);
            pending[peer] = Connected.retry(() -> node.plugin.irecv(receives[peer], in + 8L * peer, 8, peer, handle));
        }
        for (int peer : peers) {
            long handle = node.register(sends[peer], out, 8);
            sending[peer] = Connected.retry(() -> node.plugin.isend(sends[peer], out, 8, me, handle));
        }
        for (int peer : peers) {
            assertThat(Connected.finish(node, sending[peer])).isEqualTo(8);
            assertThat(Connected.finish(node, pending[peer])).isEqualTo(8);
            assertThat(Memory.getLong(in + 8L * peer)).isEqualTo(peer + 1);
        }
    }
}
