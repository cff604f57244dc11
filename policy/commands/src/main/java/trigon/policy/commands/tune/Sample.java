package trigon.policy.commands.tune;

import java.util.List;
import java.util.Optional;
import trigon.report.model.Collective;

/**
 * Collectives of a traced run, one like the other and one right after the other.
 *
 * @param what was asked for
 * @param choice how NCCL ran them
 * @param nanos from the end of one to the end of the next, on average
 * @param count how many of these times
 */
record Sample(Asked what, Choice choice, long nanos, int count) {

    /**
     * What NCCL is asked for.
     *
     * @param collective NCCL's number
     * @param bytes as NCCL's tuners count them
     */
    record Asked(int collective, int ranks, int nodes, long bytes) {

        private static final String ALL_GATHER = "AllGather";
        private static final String REDUCE_SCATTER = "ReduceScatter";

        /** By NCCL's numbers. */
        private static final List<String> COLLECTIVES =
                List.of("Broadcast", "Reduce", ALL_GATHER, REDUCE_SCATTER, "AllReduce");

        /** Reads the request of a collective; empty if NCCL asks no tuner for such, or the trace lacks it. */
        static Optional<Asked> of(Collective from) {
            boolean parts = List.of(ALL_GATHER, REDUCE_SCATTER).contains(from.name());
            long bytes = from.bytes() * (parts ? from.ranks() : 1);
            return Optional.of(new Asked(COLLECTIVES.indexOf(from.name()), from.ranks(), from.nodes(), bytes))
                    .filter(asked -> asked.collective >= 0 && bytes > 0 && asked.nodes >= 1);
        }

        /** Name of the collective. */
        String name() {
            return COLLECTIVES.get(collective);
        }

        /** The power of two that a row is for: all from it to the next one. */
        Asked powerOfTwo() {
            return new Asked(collective, ranks, nodes, minBytes());
        }

        long minBytes() {
            return Long.highestOneBit(bytes);
        }

        long maxBytes() {
            return 2 * minBytes() - 1;
        }
    }
}
