package trigon.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A property for long: batches of trials over threads, each with a seed of its own.
 *
 * @param trials at least so many
 * @param seed of the first batch; batch N has the one after it by N
 * @param began in nanoseconds
 */
public record LongRun(long trials, int threads, long seed, long began) {

    /** A batch of trials with that seed. */
    @FunctionalInterface
    public interface Batch {

        /** Throws at the first difference; returns what is added up. */
        long run(long seed) throws Exception;
    }

    /** Reads a command line: trials, threads, the first seed. */
    public static LongRun of(String[] arguments, long trials) {
        return new LongRun(
                arguments.length > 0 ? Long.parseLong(arguments[0]) : trials,
                arguments.length > 1
                        ? Integer.parseInt(arguments[1])
                        : Runtime.getRuntime().availableProcessors(),
                arguments.length > 2 ? Long.parseLong(arguments[2]) : 1,
                System.nanoTime());
    }

    /** Number of batches of a size. */
    public long batches(int size) {
        return (trials + size - 1) / size;
    }

    /**
     * Sum of the batches' results. Blocks until all have run, on threads of its own.
     *
     * @throws java.util.concurrent.ExecutionException with what a batch has thrown first
     */
    public long sum(long batches, Batch batch) throws Exception {
        AtomicLong next = new AtomicLong();
        AtomicLong sum = new AtomicLong();
        Callable<Void> worker = () -> {
            for (long number = next.getAndIncrement(); number < batches; number = next.getAndIncrement()) {
                sum.addAndGet(batch.run(seed + number));
            }
            return null;
        };
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            List<Future<Void>> running = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                running.add(executor.submit(worker));
            }
            for (Future<Void> each : running) {
                each.get();
            }
        }
        return sum.get();
    }

    /** Says what came of it, with the seeds and the time. */
    public void print(String what, long batches) {
        System.out.printf(
                "%s; seeds %d to %d, %d threads, %.0f s%n",
                what, seed, seed + batches - 1, threads, (System.nanoTime() - began) / 1e9);
    }
}
