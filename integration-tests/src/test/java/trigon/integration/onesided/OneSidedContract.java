package trigon.integration.onesided;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.nccl.NetPlugin;
import trigon.system.Memory;
import trigon.testsupport.LedgerAssert;
import trigon.transport.testsupport.TestNode;

/**
 * Ranks that put to all others, short and long, with a signal each, and get from all; all add to one word of the
 * first. A subclass says on which nodes they are, and by which links those reach each other.
 */
@Timeout(180)
public abstract class OneSidedContract {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Seconds for one step of all ranks. */
    private static final int STEP = 120;

    /** A node for each rank. */
    protected abstract List<TestNode> nodes(Path directory);

    @Test
    void everyByteAndEverySignalArrives(@TempDir Path directory) throws Exception {
        List<TestNode> nodes = nodes(directory);
        int count = nodes.size();
        long handles = nodes.getFirst().allocate(8L * count);
        List<OneSidedRank> ranks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long handle = nodes.get(i).allocate(NetPlugin.HANDLE_BYTES);
            Memory.putLong(handles + 8L * i, handle);
            ranks.add(new OneSidedRank(nodes.get(i), i, count, handle, PATIENCE));
        }
        CountDownLatch working = new CountDownLatch(count);
        try (ExecutorService threads = Executors.newFixedThreadPool(count)) {
            List<Future<?>> ends = new ArrayList<>();
            for (OneSidedRank rank : ranks) {
                ends.add(threads.submit(() -> {
                    rank.connect(handles);
                    rank.putToAll();
                    rank.getFromAll();
                    working.countDown();
                    rank.progressUntil("all ranks are done", () -> working.getCount() == 0);
                }));
            }
            for (Future<?> end : ends) {
                end.get(STEP, TimeUnit.SECONDS);
            }
        } finally {
            ranks.forEach(OneSidedRank::close);
        }
        for (TestNode node : nodes) {
            node.close();
            LedgerAssert.assertNothingOpen(node.verbs());
        }
    }
}
