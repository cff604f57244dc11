package trigon.entry.tuner;

import trigon.entry.policy.Decider;
import trigon.policy.Policy;
import trigon.policy.PolicyHost;
import trigon.policy.PolicySlot;
import trigon.policy.program.Field;
import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramTypes;
import trigon.policy.report.PolicyReport;
import trigon.verbs.Memory;

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
    static final int SCRATCH_BYTES = 1024;

    static final int SCRATCH_ALIGNMENT = 64;

    /** NCCL cuts a piece down to whole grains, of which the largest has 1920 bytes: none may be left of nothing. */
    private static final long LEAST_CHUNK = 4096;

    private static final int LEAVE_TO_NCCL = -1;
    private static final int UNKNOWN_RANK = -1;

    private static final ProgramType TUNER = ProgramTypes.TUNER;
    private static final Field BYTES = TUNER.field("n_bytes");
    private static final Field COMM_ID = TUNER.field("comm_id");
    private static final Field CALL_SEQ = TUNER.field("call_seq");
    private static final Field COLLECTIVE = TUNER.field("coll_type");
    private static final Field RANKS = TUNER.field("n_ranks");
    private static final Field NODES = TUNER.field("n_nodes");
    private static final Field PIPE_OPS = TUNER.field("num_pipe_ops");
    private static final Field RANK = TUNER.field("rank");
    private static final Field REG_BUFF = TUNER.field("reg_buff");
    private static final Field ALGORITHM = TUNER.field("algorithm");
    private static final Field PROTOCOL = TUNER.field("protocol");
    private static final Field CHANNELS = TUNER.field("n_channels");
    private static final Field AVOID = TUNER.field("avoid");

    private final long commId;
    private final int ranks;
    private final int nodes;
    private final PolicyHost host;
    private final PolicySlot tuner;
    private final PolicySlot events;
    private final ChunkDecision chunks;
    private final DecisionCounts counts = new DecisionCounts();
    private long calls;

    CommunicatorTuner(long commId, int ranks, int nodes, PolicyHost host) {
        this.commId = commId;
        this.ranks = ranks;
        this.nodes = nodes;
        this.host = host;
        tuner = host.slot(ProgramTypes.TUNER);
        events = host.slot(ProgramTypes.PROFILER);
        chunks = new ChunkDecision(host.slot(ProgramTypes.CHUNK), commId, ranks, nodes);
    }

    /** What the largest of the programs works on. */
    static int neededBytes() {
        return Math.max(PolicySlot.bytes(ProgramTypes.TUNER), PolicySlot.bytes(ProgramTypes.CHUNK));
    }

    @Override
    public PolicyHost host() {
        return host;
    }

    @Override
    public long communicator() {
        return commId;
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
     * @param scratch what the program works on
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
        BYTES.set(scratch, bytes);
        COMM_ID.set(scratch, commId);
        CALL_SEQ.set(scratch, calls++);
        COLLECTIVE.set(scratch, collective);
        RANKS.set(scratch, ranks);
        NODES.set(scratch, nodes);
        PIPE_OPS.set(scratch, pipeOps);
        RANK.set(scratch, UNKNOWN_RANK);
        REG_BUFF.set(scratch, regBuff);
        ALGORITHM.set(scratch, LEAVE_TO_NCCL);
        PROTOCOL.set(scratch, LEAVE_TO_NCCL);
        CHANNELS.set(scratch, 0);
        AVOID.set(scratch, 0);
        if (tuner.run(scratch) != ProgramType.APPLY) {
            counts.left();
            return;
        }
        int avoid = (int) AVOID.get(scratch);
        if (avoid != 0) {
            CostTable.avoid(table, algorithms, protocols, avoid);
        }
        int algorithm = (int) ALGORITHM.get(scratch);
        int protocol = (int) PROTOCOL.get(scratch);
        int channels = (int) CHANNELS.get(scratch);
        if (channels > 0) {
            Memory.putInt(channelsOut, channels);
        }
        boolean wantsNothing = algorithm == LEAVE_TO_NCCL && protocol == LEAVE_TO_NCCL;
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
        if (chunk >= LEAST_CHUNK) {
            Memory.putLong(chunkInOut, chunk);
        }
    }

    @Override
    public String toString() {
        return "communicator 0x%x of %d ranks on %d nodes".formatted(commId, ranks, nodes);
    }
}
