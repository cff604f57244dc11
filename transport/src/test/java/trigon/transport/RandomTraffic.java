package trigon.transport;

import ch.qos.logback.classic.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestNode;

/** Several {@link TrafficStream}s at once between two nodes, in both directions, each node with one thread for all. */
final class RandomTraffic {

    /** Longer than any fault that the connection has to survive; nothing at all got done for so long. */
    private static final Duration STALLED = Duration.ofSeconds(60);

    /** What one stream carries. */
    private record Shape(int longest, int depth) {}

    private static final List<Shape> SHAPES =
            List.of(new Shape(64 << 10, 32), new Shape(1 << 20, 8), new Shape(4 << 20, 3), new Shape(9_000_001, 1));

    private final long seed;
    private final List<TrafficStream> streams = new ArrayList<>();
    private volatile boolean failed;

    RandomTraffic(TestNode a, TestNode b, long seed) {
        this.seed = seed;
        for (int i = 0; i < 2 * SHAPES.size(); i++) {
            Connected connection = i % 2 == 0 ? new Connected(a, b) : new Connected(b, a);
            Shape shape = SHAPES.get(i / 2);
            streams.add(new TrafficStream(connection, seed, i, shape.longest, shape.depth));
        }
    }

    /**
     * Lets messages go for that long, and then until all that are under way have arrived.
     *
     * @return what was carried
     */
    String run(Duration duration) throws InterruptedException {
        long start = System.nanoTime();
        long enough = start + duration.toNanos();
        List<TrafficStream.End> atA = new ArrayList<>();
        List<TrafficStream.End> atB = new ArrayList<>();
        for (int i = 0; i < streams.size(); i++) {
            TrafficStream stream = streams.get(i);
            (i % 2 == 0 ? atA : atB).add(stream.sending);
            (i % 2 == 0 ? atB : atA).add(stream.receiving);
        }
        try (CapturedLog log = new CapturedLog(Level.WARN);
                ExecutorService threads = Executors.newFixedThreadPool(2)) {
            Future<?> other = threads.submit(() -> drive(atB, enough, new SplittableRandom(seed + 1)));
            Future<?> one = threads.submit(() -> drive(atA, enough, new SplittableRandom(seed)));
            try {
                one.get();
                other.get();
            } catch (ExecutionException e) {
                throw new AssertionError("seed %d; the transport logged %s".formatted(seed, log.lines()), e.getCause());
            }
        }
        long messages =
                streams.stream().mapToLong(stream -> stream.receiving.posted).sum();
        long bytes =
                streams.stream().mapToLong(stream -> stream.receiving.bytes).sum();
        return "seed %d: %d messages, %d MiB, every byte as it was sent, in %.1f s"
                .formatted(seed, messages, bytes >> 20, (System.nanoTime() - start) / 1e9);
    }

    private void drive(List<TrafficStream.End> ends, long enough, SplittableRandom random) {
        long lastProgress = System.nanoTime();
        try {
            while (!ends.stream().allMatch(TrafficStream.End::isDone)) {
                long now = System.nanoTime();
                if (ends.get(random.nextInt(ends.size())).step(now - enough > 0)) {
                    lastProgress = now;
                }
                if (random.nextInt(4096) == 0) {
                    LockSupport.parkNanos(random.nextInt(1_000_000));
                }
                if (failed) {
                    return;
                }
                if (now - lastProgress > STALLED.toNanos()) {
                    throw new AssertionError("nothing was done for " + STALLED.toSeconds() + " s: " + ends);
                }
            }
        } catch (RuntimeException | Error e) {
            failed = true;
            throw e;
        }
    }
}
