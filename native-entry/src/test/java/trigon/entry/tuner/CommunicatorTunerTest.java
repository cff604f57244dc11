package trigon.entry.tuner;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.policy.PolicyHost;
import trigon.policy.PolicyLoader;
import trigon.policy.host.CommunicatorPolicy;
import trigon.policy.host.decision.PolicyCommunicator;
import trigon.policy.host.decision.TunerProgram;
import trigon.policy.map.MapSet;
import trigon.policy.program.ProgramTypes;
import trigon.policy.verify.VerifierLimits;

/** What a communicator's policy says goes into NCCL's table, on memory as C gives it. */
class CommunicatorTunerTest {

    private static final int ALL_REDUCE = 4;
    private static final int ENTRIES = 21;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment scratch =
            arena.allocate(CommunicatorTuner.SCRATCH_BYTES, CommunicatorTuner.SCRATCH_ALIGNMENT);
    private final MemorySegment table = arena.allocate(ValueLayout.JAVA_FLOAT, ENTRIES);
    private final MemorySegment channels = arena.allocate(ValueLayout.JAVA_INT);
    private final MemorySegment chunk = arena.allocate(ValueLayout.JAVA_LONG);

    @AfterEach
    void free() {
        arena.close();
    }

    private static CommunicatorTuner tuner(String example, int ranks, int nodes) throws Exception {
        PolicyHost host = new PolicyHost(new PolicyLoader(VerifierLimits.DEFAULT), new MapSet());
        var _ = host.replace(example, Files.readAllBytes(Path.of("..", "policy", "examples", example + ".o")));
        PolicyCommunicator communicator = new PolicyCommunicator(77, ranks, nodes);
        TunerProgram program = new TunerProgram(host.slot(ProgramTypes.TUNER), communicator);
        return new CommunicatorTuner(communicator, new CommunicatorPolicy(host, program));
    }

    private void decide(CommunicatorTuner tuner, long bytes) {
        for (int i = 0; i < ENTRIES; i++) {
            table.setAtIndex(ValueLayout.JAVA_FLOAT, i, 1);
        }
        channels.set(ValueLayout.JAVA_INT, 0, 0);
        tuner.decide(scratch.address(), ALL_REDUCE, bytes, 1, table.address(), 7, 3, 0, channels.address());
    }

    private float at(int algorithm, int protocol) {
        return table.getAtIndex(ValueLayout.JAVA_FLOAT, algorithm * 3 + protocol);
    }

    @Test
    void algorithmAndProtocolAreChosenBySize() throws Exception {
        CommunicatorTuner tuner = tuner("size_aware", 2, 2);
        decide(tuner, 8 << 20);
        assertThat(at(1, 1)).isZero();
        decide(tuner, 64 << 20);
        assertThat(at(1, 2)).isZero();
        decide(tuner, 1 << 10);
        assertThat(table.toArray(ValueLayout.JAVA_FLOAT)).containsOnly(1);
        assertThat(channels.get(ValueLayout.JAVA_INT, 0)).isZero();
        assertThat(tuner.counts()).hasToString("2 decided by the policy, 1 left to NCCL, 0 that NCCL cannot do");
    }

    @Test
    void channelsAreChosenAndStateIsKept() throws Exception {
        CommunicatorTuner tuner = tuner("ramp_up", 2, 2);
        for (int call = 0; call < 16; call++) {
            decide(tuner, 1);
            assertThat(channels.get(ValueLayout.JAVA_INT, 0)).isEqualTo(call < 15 ? 2 : 3);
        }
    }

    @Test
    void treesAndPatAreTheLastResortWhereTheyWouldBeRelayed() throws Exception {
        CommunicatorTuner tuner = tuner("mesh", 4, 4);
        decide(tuner, 1 << 10);
        assertThat(at(0, 0)).isEqualTo(CostTable.AVOIDED);
        assertThat(at(6, 2)).isEqualTo(CostTable.AVOIDED);
        assertThat(at(1, 0)).isEqualTo(1);
        CommunicatorTuner small = tuner("mesh", 2, 2);
        decide(small, 1 << 10);
        assertThat(table.toArray(ValueLayout.JAVA_FLOAT)).containsOnly(1);
    }

    @Test
    void theChunkIsChosen() throws Exception {
        CommunicatorTuner tuner = tuner("chunks", 2, 2);
        chunk.set(ValueLayout.JAVA_LONG, 0, 131072);
        tuner.decideChunk(scratch.address(), ALL_REDUCE, 1 << 30, 1, 2, 8, chunk.address());
        assertThat(chunk.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(524288);
        chunk.set(ValueLayout.JAVA_LONG, 0, 131072);
        tuner.decideChunk(scratch.address(), ALL_REDUCE, 1 << 10, 1, 2, 8, chunk.address());
        assertThat(chunk.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(131072);
    }

    @Test
    void aProgramFindsRoomInWhatCGives() {
        assertThat(CommunicatorTuner.SCRATCH_BYTES).isGreaterThanOrEqualTo(CommunicatorTuner.neededBytes());
    }

    @Test
    void decidingAllocatesNothing() throws Exception {
        CommunicatorTuner tuner = tuner("table", 2, 2);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 10; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 10_000; i++) {
                tuner.decide(scratch.address(), ALL_REDUCE, i, 1, table.address(), 7, 3, 0, channels.address());
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(least).isLessThan(10_000);
    }
}
