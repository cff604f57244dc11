package trigon.entry.tuner;

import java.util.stream.Stream;
import trigon.policy.Policy;
import trigon.policy.PolicyHost;
import trigon.policy.PolicySlot;
import trigon.policy.ProgramContext;
import trigon.policy.host.CommunicatorPolicy;
import trigon.policy.host.Decider;
import trigon.policy.host.decision.Decisions;
import trigon.policy.host.decision.PolicyCommunicator;
import trigon.policy.host.decision.TunerOutputs;
import trigon.policy.program.ProgramTypes;
import trigon.policy.report.PolicyReport;
import trigon.system.Memory;

/**
 * The policy of one rank's communicator, and its state: maps, and how many collectives there were. It decides by the
 * version of the policy that the communicator began with, since ranks would not change to another one at the same
 * collective.
 *
 * <p>NCCL calls for a communicator from one thread at a time. A decision allocates nothing, takes no lock and does not
 * throw.
 */
final class CommunicatorTuner implements Decider {

    /** What C gives a program to work on. */
    static final int SCRATCH_BYTES = 1536;

    static final int SCRATCH_ALIGNMENT = 64;

    /** NCCL cuts a piece down to whole grains, of which the largest has 1920 bytes: none may be left of nothing. */
    private static final long MIN_CHUNK = 4096;

    private final PolicyCommunicator communicator;
    private final PolicyHost host;
    private final Decisions decisions;
    private final PolicySlot events;
    private final ChunkDecision chunks;
    private final DecisionCounts counts = new DecisionCounts();

    CommunicatorTuner(PolicyCommunicator communicator, CommunicatorPolicy policy) {
        this.communicator = communicator;
        host = policy.host();
        decisions = policy.decisions();
        events = host.slot(ProgramTypes.PROFILER);
        chunks = new ChunkDecision(host.slot(ProgramTypes.CHUNK), communicator);
    }

    /** What the largest of the programs works on. */
    static int neededBytes() {
        return Stream.of(ProgramTypes.TUNER, ProgramTypes.NCCLBPF, ProgramTypes.CHUNK)
                .mapToInt(ProgramContext::bytes)
                .max()
                .orElseThrow();
    }

    @Override
    public PolicyHost host() {
        return host;
    }

    @Override
    public long communicator() {
        return communicator.id();
    }

    @Override
    public int nodes() {
        return communicator.nodes();
    }

    @Override
    public PolicySlot events() {
        return events;
    }

    @Override
    public PolicyReport.Tuner report() {
        return counts.report(toString(), host.active().map(Policy::digest).orElse(""));
    }

    DecisionCounts counts() {
        return counts;
    }

    /**
     * NCCL's {@code getCollInfo}.
     *
     * @param scratch what programs work on
     * @param table address of the {@link CostTable}
     * @param channelsOut an {@code int}, 0 as NCCL left it: it decides
     */
    void decide(
            long scratch,
            int collective,
            long bytes,
            int pipeOps,
            long table,
            int algorithms,
            int protocols,
            int regBuff,
            long channelsOut) {
        if (!decisions.decide(scratch, collective, bytes, pipeOps, regBuff)) {
            counts.left();
            return;
        }
        int avoid = TunerOutputs.avoid(scratch);
        if (avoid != 0) {
            CostTable.avoid(table, algorithms, protocols, avoid);
        }
        int algorithm = TunerOutputs.algorithm(scratch);
        int protocol = TunerOutputs.protocol(scratch);
        int channels = TunerOutputs.channels(scratch);
        if (channels > 0) {
            Memory.putInt(channelsOut, channels);
        }
        boolean wantsNothing = algorithm == TunerOutputs.LEAVE_TO_NCCL && protocol == TunerOutputs.LEAVE_TO_NCCL;
        if (wantsNothing || CostTable.choose(table, algorithms, protocols, algorithm, protocol)) {
            counts.taken();
        } else {
            counts.impossible();
        }
    }

    /** NCCL's {@code getChunkSize}; {@code chunkInOut} is a {@code size_t}. */
    void decideChunk(
            long scratch, int collective, long bytes, int algorithm, int protocol, int channels, long chunkInOut) {
        long chunk =
                chunks.decide(scratch, collective, bytes, algorithm, protocol, channels, Memory.getLong(chunkInOut));
        if (chunk >= MIN_CHUNK) {
            Memory.putLong(chunkInOut, chunk);
        }
    }

    @Override
    public String toString() {
        return communicator.toString();
    }
}
