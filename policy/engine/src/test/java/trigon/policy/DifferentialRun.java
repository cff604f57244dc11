package trigon.policy;

import java.util.concurrent.atomic.AtomicLong;

/**
 * {@link DifferentialTest} for long: so many instruction streams over so many threads. Run by hand. Arguments: streams,
 * threads, the first seed; batch N has the seed after it by N. Fails with seed and program at the first difference.
 * {@code -Dtrigon.policy.runs} says on how many inputs each one runs.
 */
final class DifferentialRun {

    /** A program and a mutant of it are two streams. */
    private static final int PROGRAMS_OF_BATCH = 2_500;

    private static final int STREAMS_OF_BATCH = 2 * PROGRAMS_OF_BATCH;

    private DifferentialRun() {}

    public static void main(String[] arguments) throws Exception {
        LongRun run = LongRun.of(arguments, 1_000_000);
        long batches = run.batches(STREAMS_OF_BATCH);
        AtomicLong runs = new AtomicLong();
        long accepted = run.sum(batches, seed -> {
            DifferentialTest.Accepted some = DifferentialTest.tryAll(seed, PROGRAMS_OF_BATCH);
            runs.addAndGet(some.runs());
            return (long) some.programs() + some.mutants();
        });
        run.print(
                "%d streams, %d accepted, %d runs of them: no difference"
                        .formatted(batches * STREAMS_OF_BATCH, accepted, runs.get()),
                batches);
    }
}
