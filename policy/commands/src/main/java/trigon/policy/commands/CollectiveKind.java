package trigon.policy.commands;

import java.util.List;
import java.util.Locale;

/** NCCL's collectives, with its numbers ({@code ncclFunc_t} of NCCL's device.h). */
enum CollectiveKind {
    BROADCAST(0),
    REDUCE(1),
    ALL_GATHER(2),
    REDUCE_SCATTER(3),
    ALL_REDUCE(4);

    /** By their numbers, {@code NCCL_ALGO_*}. */
    static final List<String> ALGORITHMS =
            List.of("tree", "ring", "collnet direct", "collnet chain", "nvls", "nvls tree", "pat");

    /** By their numbers, {@code NCCL_PROTO_*}. */
    static final List<String> PROTOCOLS = List.of("LL", "LL128", "Simple");

    private final int number;

    CollectiveKind(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }

    /** As on the command line: {@code all-reduce}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
