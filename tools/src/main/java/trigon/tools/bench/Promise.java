package trigon.tools.bench;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import trigon.routing.LocalLink;
import trigon.tools.bench.Measurement.Kind;
import trigon.verbs.LinkKind;

/**
 * What was measured, against what the links promise.
 *
 * @param good whether it is enough, or cannot be said
 * @param text in words
 * @param share of the speed; empty where it cannot be said
 */
record Promise(boolean good, String text, Optional<Double> share) {

    /** A link with less than this of its speed has something wrong with it, as the doctor says, too. */
    private static final double LEAST_SHARE = 0.7;

    private static final double MEGABITS_PER_GIGABYTE = 8000;

    /**
     * Of these.
     *
     * @param alone whether all ranks are on this machine
     * @param links all that this machine has
     * @param used the names of those that carried the messages
     */
    static Promise of(List<Measurement> measured, boolean alone, List<LocalLink> links, Set<String> used) {
        long wrong = measured.stream().mapToLong(Measurement::wrong).sum();
        if (wrong > 0) {
            return new Promise(
                    false, wrong + " elements were wrong: something changes data on the way", Optional.empty());
        }
        if (alone) {
            return new Promise(
                    true,
                    "All ranks are on this machine: this is what its processors can do, and no cable was tried.",
                    Optional.empty());
        }
        List<LocalLink> carrying =
                links.stream().filter(link -> used.contains(link.name())).toList();
        long promised = carrying.stream().mapToLong(LocalLink::speedMbps).sum();
        double best = measured.stream()
                .filter(each -> each.kind() == Kind.POINT_TO_POINT)
                .mapToDouble(Measurement::gigabytesPerSecond)
                .max()
                .orElse(0);
        if (promised <= 0 || best <= 0) {
            return new Promise(
                    true,
                    "What the link promises is not known, so there is no verdict on its speed.",
                    Optional.empty());
        }
        double share = best * MEGABITS_PER_GIGABYTE / promised;
        boolean software = carrying.stream().anyMatch(link -> link.kind() == LinkKind.SOFTWARE);
        String text = String.format(
                Locale.ROOT,
                "%.2f GB/s are %.0f %% of what %s promises (%d Mbit/s).",
                best,
                share * 100,
                String.join(" and ", carrying.stream().map(LocalLink::name).toList()),
                promised);
        if (share >= LEAST_SHARE) {
            return new Promise(true, text, Optional.of(share));
        }
        return new Promise(
                false,
                text + " That is too little."
                        + (software ? " Over TCP the processors may be the limit." : "")
                        + " \"trigon doctor --rate\" looks for the reason.",
                Optional.of(share));
    }
}
