package trigon.policy.host.decision;

import trigon.nccl.TunerChoice;
import trigon.policy.PolicySlot;
import trigon.policy.program.Field;
import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramTypes;

/** Answers by a program, which is run for each call. */
public final class TunerProgram implements Decisions {

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

    private final PolicySlot slot;
    private final PolicyCommunicator communicator;
    private long calls;

    /** Decides for one communicator, by the program in a slot. */
    public TunerProgram(PolicySlot slot, PolicyCommunicator communicator) {
        this.slot = slot;
        this.communicator = communicator;
    }

    @Override
    public long decide(long scratch, int collective, long bytes, int pipeOps, int regBuff) {
        BYTES.set(scratch, bytes);
        COMM_ID.set(scratch, communicator.id());
        CALL_SEQ.set(scratch, calls++);
        COLLECTIVE.set(scratch, collective);
        RANKS.set(scratch, communicator.ranks());
        NODES.set(scratch, communicator.nodes());
        PIPE_OPS.set(scratch, pipeOps);
        RANK.set(scratch, UNKNOWN_RANK);
        REG_BUFF.set(scratch, regBuff);
        ALGORITHM.set(scratch, TunerChoice.LEAVE_TO_NCCL);
        PROTOCOL.set(scratch, TunerChoice.LEAVE_TO_NCCL);
        CHANNELS.set(scratch, 0);
        AVOID.set(scratch, 0);
        return slot.run(scratch) == ProgramType.APPLY ? choice(scratch) : TunerChoice.NONE;
    }

    private static long choice(long scratch) {
        int channels = (int) CHANNELS.get(scratch);
        int avoid = (int) AVOID.get(scratch);
        return TunerChoice.of((int) ALGORITHM.get(scratch), (int) PROTOCOL.get(scratch), channels, avoid);
    }
}
