package trigon.policy.commands.tune;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.stream.Collectors;
import trigon.policy.commands.tune.Sample.Asked;

/** Decides by samples which rows a table has. Pure. */
final class Selection {

    /** The fewest times that samples have to be of, together. */
    private static final int MIN_TIMES = 20;

    /** The fewest samples whose median counts while all choices are tried, */
    private static final int MIN_SAMPLES = 3;

    /** and when a few are confirmed. */
    private static final int MIN_CONFIRMING_SAMPLES = 10;

    /** Percent that a choice has to gain while all are tried. */
    private static final int GAIN = 5;

    /** Percent that is left when it is tried again, in turns with the usual one. */
    private static final int CONFIRMED_GAIN = 3;

    private static final Comparator<Row> BY_ASKED = Comparator.comparingInt(
                    (Row row) -> row.what().collective())
            .thenComparingInt(row -> row.what().ranks())
            .thenComparingInt(row -> row.what().nodes())
            .thenComparingLong(row -> row.what().bytes());

    /** The largest gains first, where a table has no room for all; the order of equal ones is always the same. */
    private static final Comparator<Row> BY_GAIN = Comparator.comparingLong(
                    (Row row) -> -(row.usualNanos() - row.nanos()) * row.times())
            .thenComparing(BY_ASKED);

    private static final Comparator<Map.Entry<Asked, List<Sample>>> BY_FREQUENCY = Comparator.comparingInt(
                    (Map.Entry<Asked, List<Sample>> each) -> times(each.getValue()))
            .thenComparingLong(each -> each.getKey().bytes());

    private Selection() {}

    /**
     * The best choice for each power of two, where it is better than the usual one by enough. The usual one is the most
     * frequent: nearly half of the calls were left to it, and each of the others had few. Only the most frequent of the
     * sizes counts, as others may have another usual one, and other times.
     *
     * @param most how many rows there may be
     */
    static List<Row> explored(List<Sample> samples, int most) {
        return byAsked(samples).entrySet().stream()
                .collect(Collectors.toMap(
                        each -> each.getKey().powerOfTwo(), Function.identity(), BinaryOperator.maxBy(BY_FREQUENCY)))
                .values()
                .stream()
                .flatMap(each -> best(each.getKey(), each.getValue()).stream())
                .sorted(BY_GAIN)
                .limit(most)
                .sorted(BY_ASKED)
                .toList();
    }

    private static Optional<Row> best(Asked what, List<Sample> samples) {
        Map<Choice, List<Sample>> byChoice =
                samples.stream().collect(Collectors.groupingBy(Sample::choice, TreeMap::new, Collectors.toList()));
        Map.Entry<Choice, List<Sample>> usual = byChoice.entrySet().stream()
                .max(Comparator.comparingInt(each -> times(each.getValue())))
                .orElseThrow();
        return byChoice.entrySet().stream()
                .filter(each -> !each.getKey().equals(usual.getKey()))
                .filter(each -> isEnough(each.getValue(), MIN_SAMPLES) && isEnough(usual.getValue(), MIN_SAMPLES))
                .map(each -> row(what, each.getKey(), usual.getKey(), each.getValue(), usual.getValue()))
                .filter(row -> row.gains(GAIN))
                .min(Comparator.comparingLong(Row::nanos).thenComparing(Row::choice));
    }

    /** The rows that have gained enough in a run that chose by them in half of the calls; with these medians. */
    static List<Row> confirmed(List<Row> rows, List<Sample> samples) {
        Map<Asked, List<Sample>> byAsked = byAsked(samples);
        return rows.stream()
                .flatMap(row -> again(row, byAsked.getOrDefault(row.what(), List.of())).stream())
                .filter(row -> row.gains(CONFIRMED_GAIN))
                .toList();
    }

    private static Optional<Row> again(Row row, List<Sample> samples) {
        List<Sample> chosen = samples.stream()
                .filter(sample -> sample.choice().equals(row.choice()))
                .toList();
        List<Sample> others = samples.stream()
                .filter(sample -> !sample.choice().equals(row.choice()))
                .toList();
        return isEnough(chosen, MIN_CONFIRMING_SAMPLES) && isEnough(others, MIN_CONFIRMING_SAMPLES)
                ? Optional.of(row(row.what(), row.choice(), row.usual(), chosen, others))
                : Optional.empty();
    }

    private static boolean isEnough(List<Sample> samples, int least) {
        return samples.size() >= least && times(samples) >= MIN_TIMES;
    }

    private static int times(List<Sample> samples) {
        return samples.stream().mapToInt(Sample::count).sum();
    }

    private static Row row(Asked what, Choice choice, Choice usual, List<Sample> chosen, List<Sample> others) {
        return new Row(what, choice, usual, median(others), median(chosen), times(chosen));
    }

    private static long median(List<Sample> samples) {
        return samples.stream()
                .mapToLong(Sample::nanos)
                .sorted()
                .skip(samples.size() / 2)
                .findFirst()
                .orElseThrow();
    }

    private static Map<Asked, List<Sample>> byAsked(List<Sample> samples) {
        return samples.stream().collect(Collectors.groupingBy(Sample::what));
    }
}
