package trigon.tools.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import trigon.policy.Policy;
import trigon.policy.PolicyHost;
import trigon.policy.ProgramContext;
import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramTypes;

/**
 * What a tuner's program says of a collective.
 *
 * @param bytes of the collective
 * @param passed it leaves all to NCCL
 * @param algorithm NCCL's name; empty: NCCL's own choice
 * @param protocol the same
 * @param channels the same
 * @param avoided algorithms that are the last resort
 * @param pair what NCCL makes of algorithm and protocol
 */
record Decision(
        long bytes,
        boolean passed,
        Optional<String> algorithm,
        Optional<String> protocol,
        OptionalInt channels,
        List<String> avoided,
        NcclPair pair) {

    /** @throws IllegalArgumentException if the policy has no tuner */
    static List<Decision> of(PolicyHost host, Collective collective, int ranks, int nodes, List<Long> sizes) {
        Policy policy = host.active().orElseThrow();
        if (policy.program(ProgramTypes.TUNER).isEmpty()) {
            throw new IllegalArgumentException("no tuner in " + policy.name());
        }
        List<Decision> decisions = new ArrayList<>();
        ProgramType type = ProgramTypes.TUNER;
        try (ProgramContext context = new ProgramContext(type)) {
            for (long bytes : sizes) {
                type.fields().forEach(field -> context.set(field, 0));
                context.set(type.field("n_bytes"), bytes);
                context.set(type.field("comm_id"), 1);
                context.set(type.field("call_seq"), decisions.size());
                context.set(type.field("coll_type"), collective.number());
                context.set(type.field("n_ranks"), ranks);
                context.set(type.field("n_nodes"), nodes);
                context.set(type.field("num_pipe_ops"), 1);
                context.set(type.field("rank"), -1);
                context.set(type.field("algorithm"), -1);
                context.set(type.field("protocol"), -1);
                boolean applies = host.slot(type).run(context) == ProgramType.APPLY;
                decisions.add(
                        applies ? read(context, bytes, new NcclPair.Job(collective, ranks, nodes)) : leftToNccl(bytes));
            }
        }
        return decisions;
    }

    private static Decision leftToNccl(long bytes) {
        return new Decision(
                bytes,
                true,
                Optional.empty(),
                Optional.empty(),
                OptionalInt.empty(),
                List.of(),
                new NcclPair.NotChosen());
    }

    private static Decision read(ProgramContext context, long bytes, NcclPair.Job job) {
        ProgramType type = ProgramTypes.TUNER;
        int channels = (int) context.get(type.field("n_channels"));
        long avoid = context.get(type.field("avoid"));
        int algorithm = (int) context.get(type.field("algorithm"));
        int protocol = (int) context.get(type.field("protocol"));
        return new Decision(
                bytes,
                false,
                name(Collective.ALGORITHMS, algorithm),
                name(Collective.PROTOCOLS, protocol),
                channels > 0 ? OptionalInt.of(channels) : OptionalInt.empty(),
                IntStream.range(0, Collective.ALGORITHMS.size())
                        .filter(bit -> (avoid >> bit & 1) != 0)
                        .mapToObj(Collective.ALGORITHMS::get)
                        .toList(),
                NcclPair.of(job, algorithm, protocol));
    }

    private static Optional<String> name(List<String> names, long number) {
        return number < 0 ? Optional.empty() : Optional.of(names.get((int) number));
    }

    /** Whether NCCL decides all of it, be it that the policy wants so, or that NCCL cannot do what the policy wants. */
    boolean isLeftToNccl() {
        return parts().isEmpty();
    }

    /** What becomes of it in a job, without the size. */
    String text() {
        List<String> parts = parts();
        String text = parts.isEmpty() ? "left to NCCL" : String.join(", ", parts);
        return pair instanceof NcclPair.Impossible(String reason) ? text + "; " + reason : text;
    }

    private List<String> parts() {
        List<String> parts = new ArrayList<>();
        switch (pair) {
            case NcclPair.Possible _ -> {
                algorithm.ifPresent(parts::add);
                protocol.ifPresent(parts::add);
            }
            case NcclPair.OnSomeMachines(String needs) -> {
                algorithm.ifPresent(parts::add);
                protocol.ifPresent(each -> parts.add("%s (%s)".formatted(each, needs)));
            }
            case NcclPair.NotChosen(), NcclPair.Impossible _ -> {}
        }
        channels.ifPresent(count -> parts.add(count + (count == 1 ? " channel" : " channels")));
        if (!avoided.isEmpty()) {
            parts.add("without " + String.join(", ", avoided) + " if NCCL has another");
        }
        return parts;
    }
}
