package trigon.report.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A traced run on one clock, that of the first machine.
 *
 * @param ranks by number
 * @param connections whose ends were found, or one of them
 * @param collectives in the order of their starts
 * @param happenings what happened beside the data path, in the order of time
 * @param clocks what is known of the machines' clocks
 * @param profiled whether NCCL's profiler said what the collectives are
 * @param problems what is missing or damaged, a sentence each
 */
public record Run(
        List<Rank> ranks,
        List<Connection> connections,
        List<Collective> collectives,
        List<Happening> happenings,
        Clocks clocks,
        boolean profiled,
        List<String> problems) {

    public Run {
        ranks = List.copyOf(ranks);
        connections = List.copyOf(connections);
        collectives = List.copyOf(collectives);
        happenings = List.copyOf(happenings);
        problems = List.copyOf(problems);
    }

    /** The rank of that number; null if there is none. */
    public @Nullable Rank rank(int number) {
        return ranks.stream()
                .filter(rank -> rank.number() == number)
                .findFirst()
                .orElse(null);
    }
}
