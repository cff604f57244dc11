package trigon.transport.failover;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.Seed;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.RaisingVerbs;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.VerbsException;

/**
 * Queue pairs go to the error state under messages, at either end, over and over. Each message arrives once, in order,
 * with its bytes, as NCCL's calls show it; and nothing of what was given up is left open. A subclass says what links
 * there are; their connections go on over other paths.
 */
@Timeout(300)
public abstract class QueuePairCutContract {

    private static final int CUTS = Integer.getInteger("trigon.cuts", 5);

    private final long seed = Seed.next();

    /** Decides what is broken, and when. */
    protected final Random random = new Random(seed);

    private TestNode a;
    private TestNode b;

    /** Two nodes, a and b, with failover; for those of the other kind of nodes. */
    protected TestCluster cluster(Path directory) {
        throw new IllegalStateException("no cluster in " + directory);
    }

    /** One of them, whose devices are {@link RaisingVerbs}. */
    TestNode open(Path directory, String name) {
        return new TestNode(cluster(directory), name, RaisingVerbs::new);
    }

    @BeforeEach
    void open(@TempDir Path directory) {
        a = open(directory, "a");
        b = open(directory, "b");
    }

    @AfterEach
    void nothingIsLeftOpen() {
        a.close();
        b.close();
        LedgerAssert.assertNothingOpen(a.verbs());
        LedgerAssert.assertNothingOpen(b.verbs());
    }

    @Test
    void everyMessageArrivesOnceHoweverOftenQueuePairsFail() throws Exception {
        everyMessageArrivesOnce(CUTS, this::failOne);
    }

    /**
     * Messages both ways, and faults at random moments; each is tried until it has struck.
     *
     * @return what was logged
     */
    protected final List<String> everyMessageArrivesOnce(int faults, Callable<Boolean> fault) throws Exception {
        List<Messages> streams = Stream.of(new Connected(a, b), new Connected(b, a))
                .map(connection -> new Messages(connection, new Random(random.nextLong())))
                .toList();
        try (CapturedLog log = new CapturedLog(Level.INFO);
                ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<?>> ends = streams.stream()
                    .<Future<?>>flatMap(
                            stream -> Stream.of(threads.submit(stream::send), threads.submit(stream::receive)))
                    .toList();
            int failed = 0;
            try {
                while (failed < faults) {
                    Messages.await(streams, Messages.sum(streams) + random.nextInt(100), seed, log);
                    failed += fault.call() ? 1 : 0;
                }
                Messages.await(streams, Messages.sum(streams) + 100, seed, log);
                streams.forEach(stream -> stream.last = true);
                for (Future<?> end : ends) {
                    end.get();
                }
            } catch (ExecutionException e) {
                throw new AssertionError("seed %d; %s".formatted(seed, log.lines()), e.getCause());
            } finally {
                streams.forEach(stream -> stream.last = true);
            }
            assertThat(log.lines())
                    .as("seed %d", seed)
                    .anySatisfy(line -> assertThat(line).contains("goes on over"));
            streams.forEach(Messages::close);
            return log.lines();
        }
    }

    /** Behind the transport's back, and with no event of the device; false if there was none to fail just now. */
    private boolean failOne() {
        List<QueuePair> ready = new ArrayList<>();
        for (TestNode node : List.of(a, b)) {
            ready.addAll(((RaisingVerbs) node.verbs()).readyQueuePairs());
        }
        if (ready.isEmpty()) {
            return false;
        }
        try {
            ready.get(random.nextInt(ready.size()))
                    .modify(QueuePairAttributes.to(QueuePairStateCode.ERROR).build());
            return true;
        } catch (VerbsException | IllegalStateException _) {
            return false; // it has just been closed
        }
    }
}
