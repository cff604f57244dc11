package trigon.policy.verify;

import trigon.policy.LongRun;

/**
 * {@link SubsumptionTest} for long: so many pairs of states over so many threads. Run by hand. Arguments: pairs,
 * threads, the first seed; batch N has the seed after it by N. Fails with seed and pair at the first that is wrong.
 */
final class SubsumptionRun {

    private static final int PAIRS_OF_BATCH = 1_000_000;

    private SubsumptionRun() {}

    public static void main(String[] arguments) throws Exception {
        LongRun run = LongRun.of(arguments, 100_000_000);
        long batches = run.batches(PAIRS_OF_BATCH);
        long covered = run.sum(batches, seed -> SubsumptionTest.covered(seed, PAIRS_OF_BATCH));
        run.print("%d pairs of states, %d covered: all cases".formatted(batches * PAIRS_OF_BATCH, covered), batches);
    }
}
