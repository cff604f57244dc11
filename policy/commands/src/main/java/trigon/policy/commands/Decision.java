package trigon.policy.commands;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import trigon.policy.Policy;
import trigon.policy.PolicyHost;
import trigon.policy.ProgramContext;
import trigon.policy.commands.NcclPair.CollectiveKind;
import trigon.policy.program.NcclBpf;
import trigon.policy.program.ProgramType;
import trigon.tools.console.Count;

/**
 * The answer of a tuner's program for a collective.
 *
 * @param bytes of the collective
 * @param algorithm NCCL's name; empty: NCCL's own choice
 * @param protocol the same
 * @param channels the same
 * @param avoided algorithms that are the last resort
 * @param pair what NCCL makes of algorithm and protocol
 */
record Decision(
        long bytes,
        Optional<String> algorithm,
        Optional<String> protocol,
        OptionalInt channels,
        List<String> avoided,
        NcclPair pair) {

    /** @throws IllegalArgumentException if the policy has no tuner */
    static List<Decision> of(PolicyHost host, CollectiveKind collective, int ranks, int nodes, List<Long> sizes) {
        Policy policy = host.active().orElseThrow();
        ProgramType type = kind(policy).orElseThrow(() -> new IllegalArgumentException("no tuner in " + policy.name()));
        List<Decision> decisions = new ArrayList<>();
        try (ProgramContext context = new ProgramContext(type)) {
            for (long bytes : sizes) {
                type.fields()
                        .forEach(field -> context.set(
                                field,
                                field.name().equals("algorithm")
                                                || field.name().equals("protocol")
                                                || field.name().equals("rank")
                                        ? -1
                                        : 0));
                set(context, type, "n_bytes", bytes);
                set(context, type, "comm_id", 1);
                set(context, type, "call_seq", decisions.size());
                set(context, type, "call_count", decisions.size());
                set(context, type, "coll_type", collective.number());
                set(context, type, "n_ranks", ranks);
                set(context, type, "n_nodes", nodes);
                set(context, type, "num_pipe_ops", 1);
                long result = host.slot(type).run(context);
                NcclPair.Job job = new NcclPair.Job(collective, ranks, nodes);
                if (type.equals(ProgramType.NCCLBPF)) {
                    decisions.add(NcclBpf.chooses(result) ? unpacked(result, bytes, job) : leftToNccl(bytes));
                } else {
                    decisions.add(result == ProgramType.APPLY ? read(context, bytes, job) : leftToNccl(bytes));
                }
            }
        }
        return decisions;
    }

    /** The kind of its program that decides for collectives, if it has one. */
    static Optional<ProgramType> kind(Policy policy) {
        return Stream.of(ProgramType.NCCLBPF, ProgramType.TUNER)
                .filter(type -> policy.program(type).isPresent())
                .findFirst();
    }

    /** Kinds of tuners have not all the same fields. */
    private static void set(ProgramContext context, ProgramType type, String name, long value) {
        type.fields().stream().filter(field -> field.name().equals(name)).forEach(field -> context.set(field, value));
    }

    private static Decision unpacked(long result, long bytes, NcclPair.Job job) {
        int algorithm = NcclBpf.algorithm(result);
        int protocol = NcclBpf.protocol(result);
        int channels = NcclBpf.channels(result);
        return new Decision(
                bytes,
                name(CollectiveKind.ALGORITHMS, algorithm),
                name(CollectiveKind.PROTOCOLS, protocol),
                channels > 0 ? OptionalInt.of(channels) : OptionalInt.empty(),
                List.of(),
                NcclPair.of(job, algorithm, protocol));
    }

    private static Decision leftToNccl(long bytes) {
        return new Decision(
                bytes, Optional.empty(), Optional.empty(), OptionalInt.empty(), List.of(), new NcclPair.NotChosen());
    }

    private static Decision read(ProgramContext context, long bytes, NcclPair.Job job) {
        ProgramType type = ProgramType.TUNER;
        int channels = (int) context.get(type.field("n_channels"));
        long avoid = context.get(type.field("avoid"));
        int algorithm = (int) context.get(type.field("algorithm"));
        int protocol = (int) context.get(type.field("protocol"));
        return new Decision(
                bytes,
                name(CollectiveKind.ALGORITHMS, algorithm),
                name(CollectiveKind.PROTOCOLS, protocol),
                channels > 0 ? OptionalInt.of(channels) : OptionalInt.empty(),
                IntStream.range(0, CollectiveKind.ALGORITHMS.size())
                        .filter(bit -> (avoid >> bit & 1) != 0)
                        .mapToObj(CollectiveKind.ALGORITHMS::get)
                        .toList(),
                NcclPair.of(job, algorithm, protocol));
    }

    private static Optional<String> name(List<String> names, long number) {
        return number < 0 ? Optional.empty() : Optional.of(names.get((int) number));
    }

    /** Tells whether NCCL decides all of it: the policy leaves it to NCCL, or wants what NCCL cannot do. */
    boolean isLeftToNccl() {
        return parts().isEmpty();
    }

    /** Describes its effect in a job, without the size. */
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
        channels.ifPresent(count -> parts.add(Count.of(count, "channel")));
        if (!avoided.isEmpty()) {
            parts.add("without " + String.join(", ", avoided) + " if NCCL has another");
        }
        return parts;
    }
}
