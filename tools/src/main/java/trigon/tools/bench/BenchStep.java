package trigon.tools.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * One size of a test.
 *
 * @param ranks that take part, by their numbers
 * @param bytes of a message, or of the all-reduce
 * @param channels over how many connections at once they go, in equal parts
 */
record BenchStep(Kind kind, List<Integer> ranks, long bytes, int channels) {

    BenchStep(Kind kind, List<Integer> ranks, long bytes) {
        this(kind, ranks, bytes, 1);
    }

    /** Bounds the time that a size takes. */
    private static final long BYTES_OF_A_SIZE = 64L << 20;

    private static final int MIN_ROUNDS = 5;
    private static final int MAX_ROUNDS = 100;
    private static final int DECODING_STEPS = 50;
    private static final long MIN_BYTES = 4;
    private static final long MAX_BYTES = 1L << 30;
    private static final Pattern SIZE = Pattern.compile("(\\d{1,10})([KMG]?)");

    /** All-reduces in a row that count as one round of {@link Kind#DECODE}. */
    static final int ALL_REDUCES_OF_A_STEP = 100;

    /** Pattern in which the ends send. */
    enum Kind {
        /**
         * Two ranks, each of which sends a message to the other at the same time: an all-reduce of twice the size, in
         * which this happens two times, one after the other.
         */
        POINT_TO_POINT("point-to-point"),
        /** All ranks, as a ring. */
        ALL_REDUCE("all-reduce"),
        /** The same, many in a row, as a model has that makes one token after the other. */
        DECODE("decode");

        private final String word;

        Kind(String word) {
            this.word = word;
        }

        @Override
        public String toString() {
            return word;
        }
    }

    /**
     * Rank 0 with each other one, and then all of them.
     *
     * @param alone true if they are on one machine, where one pair is as good as another
     * @param together kind of the last ones
     */
    static List<BenchStep> of(int ranks, boolean alone, Kind together, List<Long> sizes) {
        List<BenchStep> steps = new ArrayList<>();
        for (int other = 1; other < (alone ? 2 : ranks); other++) {
            for (long size : sizes) {
                steps.add(new BenchStep(Kind.POINT_TO_POINT, List.of(0, other), size));
            }
        }
        for (long size : sizes) {
            steps.add(new BenchStep(together, IntStream.range(0, ranks).boxed().toList(), size));
        }
        return steps;
    }

    /** Every two ranks, and then all of them. */
    static List<BenchStep> ofPairs(int ranks, Kind together, List<Long> sizes) {
        List<BenchStep> steps = new ArrayList<>();
        for (int one = 0; one < ranks; one++) {
            for (int other = one + 1; other < ranks; other++) {
                for (long size : sizes) {
                    steps.add(new BenchStep(Kind.POINT_TO_POINT, List.of(one, other), size));
                }
            }
        }
        of(ranks, true, together, sizes).stream()
                .filter(step -> step.kind() == together)
                .forEach(steps::add);
        return steps;
    }

    /** Parses bytes as people write them: {@code 64K}, {@code 1M}, {@code 4096}. Empty for a size out of bounds. */
    static Optional<Long> parseSize(String text) {
        Matcher matcher = SIZE.matcher(text.strip().toUpperCase(Locale.ROOT));
        if (!matcher.matches()) {
            return Optional.empty();
        }
        int shift = matcher.group(2).isEmpty() ? 0 : 10 * ("KMG".indexOf(matcher.group(2)) + 1);
        return Optional.of(Long.parseLong(matcher.group(1)) << shift)
                .filter(bytes -> bytes >= MIN_BYTES && bytes <= MAX_BYTES && bytes % MIN_BYTES == 0);
    }

    static String sizeText(long bytes) {
        if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) {
            return (bytes >> 20) + " MiB";
        }
        return bytes >= 1 << 10 && bytes % (1 << 10) == 0 ? (bytes >> 10) + " KiB" : bytes + " B";
    }

    /** Each of these steps over each number of connections, the numbers of a size side by side. */
    static List<BenchStep> over(List<Integer> channels, List<BenchStep> steps) {
        return steps.stream()
                .flatMap(step ->
                        channels.stream().map(number -> new BenchStep(step.kind(), step.ranks(), step.bytes(), number)))
                .toList();
    }

    /** Name of the test: the kind, and the number of connections if it is not one. */
    String test() {
        return channels == 1 ? kind.toString() : "%s, %d channels".formatted(kind, channels);
    }

    /** Tells whether the other one is another size of the same. */
    boolean isLike(BenchStep other) {
        return kind == other.kind && ranks.equals(other.ranks);
    }

    /** Returns how often nccl-host does it. */
    int rounds() {
        if (kind == Kind.DECODE) {
            return DECODING_STEPS * ALL_REDUCES_OF_A_STEP;
        }
        return Math.clamp(BYTES_OF_A_SIZE / bytes, MIN_ROUNDS, MAX_ROUNDS);
    }

    /** Names the ranks by their nodes, or by their numbers if these are unknown; for example {@code a and b}. */
    String who(List<String> nodes) {
        return kind != Kind.POINT_TO_POINT ? "all " + ranks.size() : names(ranks, nodes);
    }

    static String names(List<Integer> ranks, List<String> nodes) {
        return ranks.stream()
                .map(rank -> nodes.isEmpty() ? Integer.toString(rank) : nodes.get(rank))
                .collect(Collectors.joining(" and "));
    }

    @Override
    public String toString() {
        return test() + " of " + sizeText(bytes);
    }
}
