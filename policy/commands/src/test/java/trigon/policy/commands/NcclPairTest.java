package trigon.policy.commands;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.policy.commands.NcclPair.COLLNET_CHAIN;
import static trigon.policy.commands.NcclPair.COLLNET_DIRECT;
import static trigon.policy.commands.NcclPair.LL128;
import static trigon.policy.commands.NcclPair.NONE;
import static trigon.policy.commands.NcclPair.NVLS;
import static trigon.policy.commands.NcclPair.NVLS_TREE;
import static trigon.policy.commands.NcclPair.PAT;
import static trigon.policy.commands.NcclPair.RING;
import static trigon.policy.commands.NcclPair.SIMPLE;
import static trigon.policy.commands.NcclPair.TREE;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import trigon.policy.commands.NcclPair.CollectiveKind;

/** Each rule once; {@link NcclPair} names where NCCL has it. */
class NcclPairTest {

    private static final int LL = 0;
    private static final int ALGORITHMS = 7;

    private static NcclPair pair(CollectiveKind collective, int ranks, int nodes, int algorithm, int protocol) {
        return NcclPair.of(new NcclPair.Job(collective, ranks, nodes), algorithm, protocol);
    }

    private static NcclPair allReduce(int ranks, int nodes, int algorithm, int protocol) {
        return pair(CollectiveKind.ALL_REDUCE, ranks, nodes, algorithm, protocol);
    }

    private static NcclPair impossible(String reason) {
        return new NcclPair.Impossible(reason);
    }

    private static NcclPair onSome(String needs) {
        return new NcclPair.OnSomeMachines(needs + "; else NCCL's choice");
    }

    @Test
    void oneOfTheTwoIsNotUsed() {
        assertThat(allReduce(8, 2, NONE, NONE)).isEqualTo(new NcclPair.NotChosen());
        assertThat(allReduce(8, 2, RING, NONE))
                .isEqualTo(impossible("ring is not used without a protocol: choose both"));
        assertThat(allReduce(8, 2, NONE, LL)).isEqualTo(impossible("LL is not used without an algorithm: choose both"));
    }

    @Test
    void eachCollectiveHasItsAlgorithms() {
        Map<CollectiveKind, List<Integer>> algorithms = Map.of(
                CollectiveKind.BROADCAST, List.of(RING),
                CollectiveKind.REDUCE, List.of(RING),
                CollectiveKind.ALL_GATHER, List.of(RING, COLLNET_DIRECT, NVLS, PAT),
                CollectiveKind.REDUCE_SCATTER, List.of(RING, COLLNET_DIRECT, NVLS, PAT),
                CollectiveKind.ALL_REDUCE, List.of(TREE, RING, COLLNET_DIRECT, COLLNET_CHAIN, NVLS, NVLS_TREE));

        algorithms.forEach((collective, has) -> assertThat(IntStream.range(0, ALGORITHMS)
                        .filter(algorithm -> !pair(collective, 8, 2, algorithm, SIMPLE)
                                .equals(impossible("NCCL has no %s, Simple for %s"
                                        .formatted(CollectiveKind.ALGORITHMS.get(algorithm), collective))))
                        .boxed())
                .as(collective.toString())
                .isEqualTo(has));
    }

    @Test
    void allButRingsAndTreesAreSimple() {
        for (int algorithm : new int[] {COLLNET_DIRECT, COLLNET_CHAIN, NVLS, NVLS_TREE}) {
            assertThat(allReduce(8, 2, algorithm, LL))
                    .isEqualTo(impossible("NCCL has no %s, LL: the protocol has to be Simple"
                            .formatted(CollectiveKind.ALGORITHMS.get(algorithm))));
        }
        assertThat(pair(CollectiveKind.ALL_GATHER, 4, 4, PAT, LL128))
                .isEqualTo(impossible("NCCL has no pat, LL128: the protocol has to be Simple"));
        assertThat(allReduce(8, 2, TREE, LL)).isEqualTo(new NcclPair.Possible());
        assertThat(allReduce(8, 2, RING, SIMPLE)).isEqualTo(new NcclPair.Possible());
    }

    @Test
    void oneRankHasRingAndSimple() {
        assertThat(allReduce(1, 1, RING, SIMPLE)).isEqualTo(new NcclPair.Possible());
        assertThat(allReduce(1, 1, RING, LL128)).isEqualTo(impossible("NCCL has ring, Simple alone for one rank"));
        assertThat(allReduce(1, 1, TREE, SIMPLE)).isEqualTo(impossible("NCCL has ring, Simple alone for one rank"));
    }

    @Test
    void patTakesOneRankPerNodeAndDoesNotDivide() {
        assertThat(pair(CollectiveKind.ALL_GATHER, 4, 4, PAT, SIMPLE)).isEqualTo(new NcclPair.Possible());
        assertThat(pair(CollectiveKind.REDUCE_SCATTER, 4, 4, PAT, SIMPLE))
                .isEqualTo(onSome("for sums, not for averages"));
        assertThat(pair(CollectiveKind.ALL_GATHER, 8, 4, PAT, SIMPLE))
                .isEqualTo(impossible("NCCL has pat only where each node has one rank"));
    }

    @Test
    void collNetTakesSharpSeveralNodesAndFewRanksOfEach() {
        assertThat(allReduce(16, 2, COLLNET_CHAIN, SIMPLE)).isEqualTo(onSome("with SHARP"));
        assertThat(allReduce(16, 2, COLLNET_DIRECT, SIMPLE)).isEqualTo(onSome("with SHARP and NVSwitch"));
        assertThat(allReduce(8, 1, COLLNET_CHAIN, SIMPLE)).isEqualTo(impossible("NCCL has no collnet on one node"));
        assertThat(allReduce(17, 2, COLLNET_DIRECT, SIMPLE))
                .isEqualTo(impossible("NCCL has collnet only for up to 8 ranks of a node"));
    }

    @Test
    void nvlsTakesSeveralRanksOfANode() {
        assertThat(allReduce(8, 1, NVLS, SIMPLE)).isEqualTo(onSome("with NVLink SHARP"));
        assertThat(allReduce(16, 2, NVLS, SIMPLE)).isEqualTo(onSome("with NVLink SHARP, and SHARP between nodes"));
        assertThat(allReduce(16, 2, NVLS_TREE, SIMPLE)).isEqualTo(onSome("with NVLink SHARP"));
        assertThat(allReduce(4, 4, NVLS, SIMPLE))
                .isEqualTo(impossible("NCCL has nvls only where nodes have several ranks"));
        assertThat(allReduce(8, 1, NVLS_TREE, SIMPLE)).isEqualTo(impossible("NCCL has no nvls tree on one node"));
        assertThat(pair(CollectiveKind.ALL_GATHER, 33, 1, NVLS, SIMPLE))
                .isEqualTo(impossible("NCCL has nvls for all-gather only for up to 32 ranks of a node"));
        assertThat(allReduce(33, 1, NVLS, SIMPLE)).isEqualTo(onSome("with NVLink SHARP"));
    }

    @Test
    void ll128TakesShortWays() {
        assertThat(allReduce(8, 1, RING, LL128)).isEqualTo(onSome("over NVLink"));
        assertThat(allReduce(4, 4, TREE, LL128)).isEqualTo(onSome("with NICs close to GPUs"));
        assertThat(allReduce(16, 2, RING, LL128)).isEqualTo(onSome("over NVLink, and with NICs close to GPUs"));
    }
}
