package trigon.policy.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.nccl.TunerAdvice;
import trigon.nccl.TunerChoice;
import trigon.policy.PolicyHost;
import trigon.policy.PolicyLoader;
import trigon.policy.ProgramContext;
import trigon.policy.map.MapSet;
import trigon.policy.program.ProgramType;
import trigon.policy.verify.VerifierLimits;
import trigon.testsupport.AllocationAssert;

/** Choices of the examples' policies, on memory as C gives it. */
class CommunicatorTunerTest {

    private static final int ALL_REDUCE = 4;
    private static final int LEAVE = TunerChoice.LEAVE_TO_NCCL;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment scratch = arena.allocate(TunerAdvice.SCRATCH_BYTES, TunerAdvice.SCRATCH_ALIGNMENT);

    @AfterEach
    void free() {
        arena.close();
    }

    private static CommunicatorTuner tuner(String example, int ranks, int nodes) throws Exception {
        PolicyHost host = new PolicyHost(new PolicyLoader(VerifierLimits.DEFAULT), new MapSet());
        var _ = host.replace(example, Files.readAllBytes(Path.of("..", "examples", example + ".o")));
        PolicyCommunicator communicator = new PolicyCommunicator(77, ranks, nodes);
        return new CommunicatorTuner(communicator, host, Decisions.byProgram(host, communicator), _ -> {});
    }

    private long decide(CommunicatorTuner tuner, long bytes) {
        return tuner.decide(scratch.address(), ALL_REDUCE, bytes, 1, 0);
    }

    @Test
    void algorithmAndProtocolAreChosenBySize() throws Exception {
        CommunicatorTuner tuner = tuner("size_aware", 2, 2);
        assertThat(decide(tuner, 8 << 20)).isEqualTo(TunerChoice.of(1, 1, 0, 0));
        assertThat(decide(tuner, 64 << 20)).isEqualTo(TunerChoice.of(1, 2, 0, 0));
        tuner.refused();
        assertThat(decide(tuner, 1 << 10)).isEqualTo(TunerChoice.NONE);
        assertThat(tuner.report().decided()).isEqualTo(1);
        assertThat(tuner.report().left()).isEqualTo(1);
        assertThat(tuner.report().impossible()).isEqualTo(1);
    }

    @Test
    void channelsAreChosenAndStateIsKept() throws Exception {
        CommunicatorTuner tuner = tuner("ramp_up", 2, 2);
        for (int call = 0; call < 16; call++) {
            assertThat(decide(tuner, 1)).isEqualTo(TunerChoice.of(LEAVE, LEAVE, call < 15 ? 2 : 3, 0));
        }
    }

    @Test
    void treesAndPatAreTheLastResortWhereTheyWouldBeRelayed() throws Exception {
        assertThat(TunerChoice.avoid(decide(tuner("mesh", 4, 4), 1 << 10)) & (1 | 1 << 6))
                .isEqualTo(1 | 1 << 6);
        assertThat(TunerChoice.avoid(decide(tuner("mesh", 2, 2), 1 << 10))).isZero();
    }

    @Test
    void theChunkIsChosen() throws Exception {
        CommunicatorTuner tuner = tuner("chunks", 2, 2);
        assertThat(tuner.chunk(scratch.address(), ALL_REDUCE, 1 << 30, 1, 2, 8, 131072))
                .isEqualTo(524288);
        assertThat(tuner.chunk(scratch.address(), ALL_REDUCE, 1 << 10, 1, 2, 8, 131072))
                .isZero();
    }

    @Test
    void aProgramFindsRoomInWhatCGives() {
        assertThat(Stream.of(ProgramType.TUNER, ProgramType.NCCLBPF, ProgramType.CHUNK))
                .allSatisfy(
                        type -> assertThat(ProgramContext.bytes(type)).isLessThanOrEqualTo(TunerAdvice.SCRATCH_BYTES));
    }

    @Test
    void decidingAllocatesNothing() throws Exception {
        CommunicatorTuner tuner = tuner("table", 2, 2);
        AtomicLong bytes = new AtomicLong();
        AllocationAssert.assertAllocationAtMost(
                () -> {
                    var _ = decide(tuner, bytes.getAndIncrement());
                },
                10_000,
                1); // the JVM's own, now and then
    }
}
