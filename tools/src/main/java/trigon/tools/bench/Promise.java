package trigon.tools.bench;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import trigon.routing.LocalLink;
import trigon.tools.bench.Measurement.Kind;
import trigon.verbs.LinkKind;

/**
 * What was measured, against what the links promise.
 *
 * @param good whether it is enough, or cannot be said
 * @param text in words
 * @param share of the speed, of the pair of ranks that has the least; empty where it cannot be said
 */
record Promise(boolean good, String text, Optional<Double> share) {

    /** A link with less than this of its speed has something wrong with it, as the doctor says, too. */
    private static final double MIN_SHARE = 0.7;

    private static final double MEGABITS_PER_GIGABYTE = 8000;

    /**
     * What was measured, and over what.
     *
     * @param links the names of those of this machine that carried it
     */
    record Carried(Measurement measured, Set<String> links) {

        Carried {
            links = Set.copyOf(links);
        }
    }

    /** The best that a pair of ranks has reached, and the links that carried its messages. */
    private record Pair(List<Integer> ranks, double best, List<LocalLink> links) {

        static Pair of(List<Integer> ranks, List<Carried> measured, List<LocalLink> links) {
            List<Carried> own = measured.stream()
                    .filter(each -> each.measured().kind() == Kind.POINT_TO_POINT
                            && each.measured().ranks().equals(ranks))
                    .toList();
            return new Pair(
                    ranks,
                    own.stream()
                            .mapToDouble(each -> each.measured().gigabytesPerSecond())
                            .max()
                            .orElse(0),
                    links.stream()
                            .filter(link ->
                                    own.stream().anyMatch(each -> each.links().contains(link.toString())))
                            .toList());
        }

        long promised() {
            return links.stream().mapToLong(LocalLink::speedMbps).sum();
        }

        boolean isKnown() {
            return best > 0 && promised() > 0;
        }

        double share() {
            return best * MEGABITS_PER_GIGABYTE / promised();
        }

        String text(boolean named, RankNames names) {
            return String.format(
                    Locale.ROOT,
                    "%.2f GB/s%s are %.0f %% of what %s promises (%d Mbit/s).",
                    best,
                    named ? " between " + (names.nodes().isEmpty() ? "ranks " : "") + names.of(ranks) : "",
                    share() * 100,
                    links.stream().map(LocalLink::label).distinct().collect(Collectors.joining(" and ")),
                    promised());
        }
    }

    /**
     * Of these. Each pair of ranks is held against its own links, and the worst one decides.
     *
     * @param alone whether all ranks are on this machine
     * @param links all that this machine has
     */
    static Promise of(List<Carried> measured, boolean alone, List<LocalLink> links, RankNames names) {
        long wrong =
                measured.stream().mapToLong(each -> each.measured().wrong()).sum();
        if (wrong > 0) {
            return new Promise(false, wrong + " elements were wrong: data was corrupted on the way", Optional.empty());
        }
        if (alone) {
            return new Promise(
                    true,
                    "All ranks are on this machine: the result shows its processors' speed, not a cable's.",
                    Optional.empty());
        }
        List<Pair> pairs = measured.stream()
                .filter(each -> each.measured().kind() == Kind.POINT_TO_POINT)
                .map(each -> each.measured().ranks())
                .distinct()
                .map(ranks -> Pair.of(ranks, measured, links))
                .toList();
        return pairs.stream()
                .filter(Pair::isKnown)
                .min(Comparator.comparingDouble(Pair::share))
                .map(worst -> of(worst, worst.text(pairs.size() > 1, names)))
                .orElseGet(() -> new Promise(
                        true, "The link's nominal speed is unknown, so there is no verdict.", Optional.empty()));
    }

    private static Promise of(Pair worst, String text) {
        if (worst.share() >= MIN_SHARE) {
            return new Promise(true, text, Optional.of(worst.share()));
        }
        boolean software = worst.links().stream().anyMatch(link -> link.kind() == LinkKind.SOFTWARE);
        return new Promise(
                false,
                text + " That is too little."
                        + (software ? " Over TCP the processors may be the limit." : "")
                        + " \"trigon doctor --rate\" finds the reason.",
                Optional.of(worst.share()));
    }
}
