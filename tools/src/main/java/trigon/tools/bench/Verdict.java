package trigon.tools.bench;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import trigon.routing.LocalLink;
import trigon.tools.bench.BenchStep.Kind;
import trigon.verbs.LinkKind;

/**
 * Comparison of measurements with what the links promise.
 *
 * @param good true if it is enough, or nothing is known
 * @param share of the speed, of the pair of ranks that has the least; empty where the speed is unknown
 */
record Verdict(boolean good, String text, Optional<Double> share) {

    /** The doctor reports a link below this share of its speed, too. */
    private static final double MIN_SHARE = 0.7;

    private static final double MEGABITS_PER_GIGABYTE = 8000;

    /** The best that a pair of ranks has reached, and the links that carried its messages. */
    private record Pair(List<Integer> ranks, double best, List<LocalLink> links) {

        static Pair of(List<BenchRow> rows, List<LocalLink> all) {
            List<String> used = rows.stream()
                    .flatMap(row -> Network.links(row.ways()).stream())
                    .toList();
            return new Pair(
                    rows.getFirst().step().ranks(),
                    rows.stream()
                            .mapToDouble(BenchRow::gigabytesPerSecond)
                            .max()
                            .orElse(0),
                    all.stream().filter(link -> used.contains(link.toString())).toList());
        }

        long promised() {
            return links.stream().mapToLong(LocalLink::speedMbps).sum();
        }

        double share() {
            return best * MEGABITS_PER_GIGABYTE / promised();
        }

        String text(boolean named, List<String> nodes) {
            return String.format(
                    Locale.ROOT,
                    "%.2f GB/s%s are %.0f %% of what %s promises (%d Mbit/s).",
                    best,
                    named ? " between " + (nodes.isEmpty() ? "ranks " : "") + BenchStep.names(ranks, nodes) : "",
                    share() * 100,
                    links.stream().map(LocalLink::label).distinct().collect(Collectors.joining(" and ")),
                    promised());
        }
    }

    /**
     * Compares each pair of ranks with its own links; the worst one decides.
     *
     * @param alone true if all ranks are on this machine
     * @param links all that this machine has
     * @param nodes by rank; empty if they are unknown
     */
    static Verdict of(List<BenchRow> rows, boolean alone, List<LocalLink> links, List<String> nodes) {
        long wrong = rows.stream().mapToLong(BenchRow::wrong).sum();
        if (wrong > 0) {
            return new Verdict(false, wrong + " elements were wrong: data was corrupted on the way", Optional.empty());
        }
        if (alone) {
            return new Verdict(
                    true,
                    "All ranks are on this machine: the result shows its processors' speed, not a cable's.",
                    Optional.empty());
        }
        if (rows.stream().anyMatch(row -> row.step().kind() == Kind.DECODE)) {
            return new Verdict(true, "Short messages do not show a link's speed.", Optional.empty());
        }
        Map<List<Integer>, List<BenchRow>> pairs = rows.stream()
                .filter(row -> row.step().kind() == Kind.POINT_TO_POINT && !row.hasFailed())
                .collect(Collectors.groupingBy(row -> row.step().ranks(), LinkedHashMap::new, Collectors.toList()));
        return pairs.values().stream()
                .map(each -> Pair.of(each, links))
                .filter(pair -> pair.best() > 0 && pair.promised() > 0)
                .min(Comparator.comparingDouble(Pair::share))
                .map(worst -> of(worst, worst.text(pairs.size() > 1, nodes)))
                .orElseGet(() -> new Verdict(
                        true, "The link's nominal speed is unknown, so there is no verdict.", Optional.empty()));
    }

    private static Verdict of(Pair worst, String text) {
        if (worst.share() >= MIN_SHARE) {
            return new Verdict(true, text, Optional.of(worst.share()));
        }
        boolean software = worst.links().stream().anyMatch(link -> link.kind() == LinkKind.SOFTWARE);
        return new Verdict(
                false,
                text + " That is too little."
                        + (software ? " Over TCP the processors may be the limit." : "")
                        + " \"trigon doctor --rate\" finds the reason.",
                Optional.of(worst.share()));
    }
}
