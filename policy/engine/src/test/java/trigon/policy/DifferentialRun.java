package trigon.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/**
 * {@link DifferentialTest} for long: so many instruction streams over so many threads. Run by hand. Arguments: streams,
 * threads, the first seed; batch N has the seed after it by N. Fails with seed and program at the first difference.
 */
final class DifferentialRun {

    /** A program and a mutant of it are two streams. */
    private static final int PROGRAMS_OF_BATCH = 5_000;

    private static final int STREAMS_OF_BATCH = 2 * PROGRAMS_OF_BATCH;

    private DifferentialRun() {}

    public static void main(String[] arguments) throws Exception {
        long streams = arguments.length > 0 ? Long.parseLong(arguments[0]) : 1_000_000;
        int threads = arguments.length > 1
                ? Integer.parseInt(arguments[1])
                : Runtime.getRuntime().availableProcessors();
        long seed = arguments.length > 2 ? Long.parseLong(arguments[2]) : 1;
        long batches = (streams + STREAMS_OF_BATCH - 1) / STREAMS_OF_BATCH;
        AtomicLong next = new AtomicLong();
        AtomicLong accepted = new AtomicLong();
        long began = System.nanoTime();
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            List<Future<?>> running = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                running.add(executor.submit(() -> {
                    long batch = next.getAndIncrement();
                    while (batch < batches) {
                        DifferentialTest.Accepted some = DifferentialTest.tryAll(seed + batch, PROGRAMS_OF_BATCH);
                        accepted.addAndGet(some.programs() + some.mutants());
                        batch = next.getAndIncrement();
                    }
                    return null;
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        long tried = batches * STREAMS_OF_BATCH;
        System.out.printf(
                "%d streams, seeds %d to %d, %d accepted and run: no difference; %.0f s, %.0f streams/s, %.0f a"
                        + " thread%n",
                tried, seed, seed + batches - 1, accepted.get(), seconds, tried / seconds, tried / seconds / threads);
    }
}
