package trigon.tools.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import trigon.tools.bench.Measurement.Kind;

/**
 * One size.
 *
 * @param ranks that take part, by their numbers
 */
record BenchStep(Kind kind, List<Integer> ranks, long bytes) {

    /** So that each size takes about the same time. */
    private static final long BYTES_OF_A_SIZE = 64L << 20;

    private static final int MIN_ROUNDS = 5;
    private static final int MAX_ROUNDS = 100;

    BenchStep {
        ranks = List.copyOf(ranks);
    }

    /**
     * Rank 0 with each other one, and then all of them.
     *
     * @param alone whether they are on one machine, where one pair is as good as another
     */
    static List<BenchStep> of(int ranks, boolean alone, List<Long> sizes) {
        List<BenchStep> steps = new ArrayList<>();
        for (int other = 1; other < (alone ? 2 : ranks); other++) {
            for (long size : sizes) {
                steps.add(new BenchStep(Kind.POINT_TO_POINT, List.of(0, other), size));
            }
        }
        for (long size : sizes) {
            steps.add(new BenchStep(
                    Kind.ALL_REDUCE, IntStream.range(0, ranks).boxed().toList(), size));
        }
        return steps;
    }

    /** Tells whether the other one is another size of the same. */
    boolean isLike(BenchStep other) {
        return kind == other.kind && ranks.equals(other.ranks);
    }

    int rounds() {
        return Math.clamp(BYTES_OF_A_SIZE / bytes, MIN_ROUNDS, MAX_ROUNDS);
    }

    @Override
    public String toString() {
        return kind + " of " + Sizes.text(bytes);
    }
}
