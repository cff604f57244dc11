package trigon.tools.bench;

import java.util.List;
import java.util.stream.Collectors;

/**
 * What ranks are called: by their nodes if these are known, else by their numbers.
 *
 * @param count of the ranks
 * @param nodes by rank; empty if they are not known
 */
record RankNames(int count, List<String> nodes) {

    RankNames {
        nodes = List.copyOf(nodes);
    }

    /** For example {@code a and b}, or {@code all 3}. */
    String of(List<Integer> ranks) {
        if (ranks.size() == count && count > 2) {
            return "all " + count;
        }
        return ranks.stream()
                .map(rank -> nodes.isEmpty() ? Integer.toString(rank) : nodes.get(rank))
                .collect(Collectors.joining(" and "));
    }
}
