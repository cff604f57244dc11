package trigon.tools.policy;

import java.util.List;

/**
 * What NCCL makes of the algorithm and the protocol that a tuner chose, by the rules of its {@code src/graph/tuning.cc}
 * that hold on all machines. The rest is in its table of costs, which only a job has.
 */
sealed interface NcclPair {

    /** The tuner chose neither. */
    record NotChosen() implements NcclPair {}

    /** NCCL has it on every machine. */
    record Possible() implements NcclPair {}

    /** NCCL has it on some machines, and decides by itself on others. */
    record OnSomeMachines(String needs) implements NcclPair {}

    /** NCCL has it on no machine, so the choice stays NCCL's. */
    record Impossible(String reason) implements NcclPair {}

    /** The collective that is asked about, and the ranks that take part in it. */
    record Job(Collective collective, int ranks, int nodes) {}

    int TREE = 0;
    int RING = 1;
    int COLLNET_DIRECT = 2;
    int COLLNET_CHAIN = 3;
    int NVLS = 4;
    int NVLS_TREE = 5;
    int PAT = 6;
    int LL128 = 1;
    int SIMPLE = 2;
    int NONE = -1;

    /** For NCCL's numbers of both; -1: the tuner leaves it open. */
    static NcclPair of(Job job, int algorithm, int protocol) {
        if (algorithm == NONE && protocol == NONE) {
            return new NotChosen();
        }
        if (protocol == NONE) {
            return new Impossible(
                    "%s is not used without a protocol: choose both".formatted(Collective.ALGORITHMS.get(algorithm)));
        }
        String name = Collective.PROTOCOLS.get(protocol);
        if (algorithm == NONE) {
            return new Impossible("%s is not used without an algorithm: choose both".formatted(name));
        }
        String pair = Collective.ALGORITHMS.get(algorithm) + ", " + name;
        if (!algorithms(job.collective()).contains(algorithm)) {
            return new Impossible("NCCL has no %s for %s".formatted(pair, job.collective()));
        }
        if (algorithm != TREE && algorithm != RING && protocol != SIMPLE) {
            return new Impossible("NCCL has no %s: the protocol has to be Simple".formatted(pair));
        }
        if (algorithm == PAT && job.ranks() != job.nodes()) {
            return new Impossible("NCCL has pat only where each node has one rank");
        }
        if (algorithm == NVLS_TREE && job.nodes() == 1) {
            return new Impossible("NCCL has no nvls tree on one node");
        }
        return switch (algorithm) {
            case COLLNET_DIRECT, COLLNET_CHAIN -> new OnSomeMachines("with SHARP; else NCCL's choice");
            case NVLS, NVLS_TREE -> new OnSomeMachines("with NVLink SHARP; else NCCL's choice");
            case TREE, RING ->
                protocol == LL128 ? new OnSomeMachines("over NVLink; else NCCL's choice") : new Possible();
            default -> new Possible();
        };
    }

    private static List<Integer> algorithms(Collective collective) {
        return switch (collective) {
            case BROADCAST, REDUCE -> List.of(RING);
            case ALL_GATHER, REDUCE_SCATTER -> List.of(RING, COLLNET_DIRECT, NVLS, PAT);
            case ALL_REDUCE -> List.of(TREE, RING, COLLNET_DIRECT, COLLNET_CHAIN, NVLS, NVLS_TREE);
        };
    }
}
