package trigon.report.model;

import java.util.List;
import trigon.report.read.TraceContents.Event;

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

    /**
     * An event off the data path.
     *
     * @param rank the process where it happened
     * @param time on the run's clock
     * @param event what happened
     */
    public record Happening(Rank rank, long time, Event event) {}
}
