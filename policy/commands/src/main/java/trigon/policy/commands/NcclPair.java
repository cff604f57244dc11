package trigon.policy.commands;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * NCCL's answer to the algorithm and the protocol that a tuner chose, by the rules that hold on all machines unless a
 * variable of NCCL's environment says otherwise. The rest is in its table of costs, which only a job has.
 *
 * <p>Each rule names its source, in NCCL 2.30.7 (commit 5067397c): {@code ncclTopoTuneModel} of
 * {@code src/graph/tuning.cc}, {@code updateCollCostTable} of {@code src/enqueue.cc}, {@code initTransportsRank} of
 * {@code src/init.cc}, {@code ncclNvlsInit} of {@code src/transport/nvls.cc}.
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
    record Job(CollectiveKind collective, int ranks, int nodes) {

        /** Returns the least number of ranks that the fullest node can have. */
        int ranksOfNode() {
            return Math.ceilDiv(ranks, nodes);
        }

        boolean reducesAll() {
            return collective == CollectiveKind.ALL_REDUCE;
        }
    }

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

    int MAX_OF_COLLNET = 8;
    int MAX_OF_NVLS = 32;
    String NVLINK_SHARP = "with NVLink SHARP";

    /** For NCCL's numbers of both; -1: the tuner leaves it open. */
    static NcclPair of(Job job, int algorithm, int protocol) {
        if (algorithm == NONE && protocol == NONE) {
            return new NotChosen();
        }
        if (protocol == NONE) {
            return new Impossible("%s is not used without a protocol: choose both"
                    .formatted(CollectiveKind.ALGORITHMS.get(algorithm)));
        }
        String name = CollectiveKind.PROTOCOLS.get(protocol);
        if (algorithm == NONE) {
            return new Impossible("%s is not used without an algorithm: choose both".formatted(name));
        }
        String pair = CollectiveKind.ALGORITHMS.get(algorithm) + ", " + name;
        return reason(job, algorithm, protocol, pair)
                .<NcclPair>map(Impossible::new)
                .orElseGet(() -> needs(job, algorithm, protocol)
                        .<NcclPair>map(needs -> new OnSomeMachines(needs + "; else NCCL's choice"))
                        .orElseGet(Possible::new));
    }

    /** Why NCCL has it on no machine. */
    private static Optional<String> reason(Job job, int algorithm, int protocol, String pair) {
        // updateCollCostTable: one rank has an entry for ring and Simple, and no other
        if (job.ranks() == 1) {
            return algorithm == RING && protocol == SIMPLE
                    ? Optional.empty()
                    : Optional.of("NCCL has ring, Simple alone for one rank");
        }
        // ncclTopoTuneModel skips the other algorithms of each collective
        if (!algorithms(job.collective()).contains(algorithm)) {
            return Optional.of("NCCL has no %s for %s".formatted(pair, job.collective()));
        }
        // ncclTopoTuneModel: NVLS and PAT are skipped for LL and LL128, CollNet has a bandwidth of 0
        if (algorithm != TREE && algorithm != RING && protocol != SIMPLE) {
            return Optional.of("NCCL has no %s: the protocol has to be Simple".formatted(pair));
        }
        return switch (algorithm) {
            case COLLNET_DIRECT, COLLNET_CHAIN -> collNet(job);
            case NVLS, NVLS_TREE -> nvls(job, algorithm);
            // ncclPatEnable, of ncclTopoTuneModel's file
            case PAT ->
                job.ranks() == job.nodes()
                        ? Optional.empty()
                        : Optional.of("NCCL has pat only where each node has one rank");
            default -> Optional.empty();
        };
    }

    private static Optional<String> collNet(Job job) {
        // initTransportsRank, NCCL_COLLNET_NODE_THRESHOLD
        if (job.nodes() == 1) {
            return Optional.of("NCCL has no collnet on one node");
        }
        // updateCollCostTable, NCCL_MAX_DIRECT_ARITY + 1
        return job.ranksOfNode() > MAX_OF_COLLNET
                ? Optional.of("NCCL has collnet only for up to %d ranks of a node".formatted(MAX_OF_COLLNET))
                : Optional.empty();
    }

    private static Optional<String> nvls(Job job, int algorithm) {
        // ncclNvlsInit
        if (job.ranks() == job.nodes()) {
            return Optional.of("NCCL has %s only where nodes have several ranks"
                    .formatted(CollectiveKind.ALGORITHMS.get(algorithm)));
        }
        // ncclTopoTuneModel
        if (algorithm == NVLS_TREE && job.nodes() == 1) {
            return Optional.of("NCCL has no nvls tree on one node");
        }
        // updateCollCostTable, NCCL_MAX_NVLS_ARITY
        return !job.reducesAll() && job.ranksOfNode() > MAX_OF_NVLS
                ? Optional.of("NCCL has nvls for %s only for up to %d ranks of a node"
                        .formatted(job.collective(), MAX_OF_NVLS))
                : Optional.empty();
    }

    /** Returns the hardware that it needs; empty if every machine has that. */
    private static Optional<String> needs(Job job, int algorithm, int protocol) {
        return switch (algorithm) {
            // ncclTopoTuneModel: collnetEnable, and of direct a switch
            case COLLNET_CHAIN -> Optional.of("with SHARP");
            case COLLNET_DIRECT -> Optional.of("with SHARP and NVSwitch");
            // ncclTopoTuneModel, updateCollCostTable: nvls on several nodes takes CollNet, too
            case NVLS -> Optional.of(job.nodes() > 1 ? "with NVLink SHARP, and SHARP between nodes" : NVLINK_SHARP);
            case NVLS_TREE -> Optional.of(NVLINK_SHARP);
            // updateCollCostTable: PAT has no scaling after a reduction
            case PAT ->
                job.collective() == CollectiveKind.REDUCE_SCATTER
                        ? Optional.of("for sums, not for averages")
                        : Optional.empty();
            default -> protocol == LL128 && job.ranks() > 1 ? Optional.of(needsOfLl128(job)) : Optional.empty();
        };
    }

    /** {@code ncclTopoTuneModel}, typeIntra and typeInter: how far GPUs may be from each other, and from their NICs. */
    private static String needsOfLl128(Job job) {
        if (job.nodes() == 1) {
            return "over NVLink";
        }
        return job.ranks() == job.nodes() ? "with NICs close to GPUs" : "over NVLink, and with NICs close to GPUs";
    }

    private static List<Integer> algorithms(CollectiveKind collective) {
        return switch (collective) {
            case BROADCAST, REDUCE -> List.of(RING);
            case ALL_GATHER, REDUCE_SCATTER -> List.of(RING, COLLNET_DIRECT, NVLS, PAT);
            case ALL_REDUCE -> List.of(TREE, RING, COLLNET_DIRECT, COLLNET_CHAIN, NVLS, NVLS_TREE);
        };
    }

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
}
