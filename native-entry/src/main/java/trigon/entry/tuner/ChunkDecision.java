package trigon.entry.tuner;

import trigon.policy.PolicySlot;
import trigon.policy.host.decision.PolicyCommunicator;
import trigon.policy.program.Field;
import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramTypes;

/** How large the pieces of a communicator's collectives are, by its policy's program for that. */
final class ChunkDecision {

    private static final ProgramType CHUNK = ProgramTypes.CHUNK;
    private static final Field BYTES = CHUNK.field("n_bytes");
    private static final Field COMM_ID = CHUNK.field("comm_id");
    private static final Field OF_NCCL = CHUNK.field("chunk_of_nccl");
    private static final Field COLLECTIVE = CHUNK.field("coll_type");
    private static final Field RANKS = CHUNK.field("n_ranks");
    private static final Field NODES = CHUNK.field("n_nodes");
    private static final Field ALGORITHM = CHUNK.field("algorithm");
    private static final Field PROTOCOL = CHUNK.field("protocol");
    private static final Field CHANNELS = CHUNK.field("n_channels");
    private static final Field CHUNK_BYTES = CHUNK.field("chunk_bytes");

    private final PolicySlot slot;
    private final PolicyCommunicator communicator;

    ChunkDecision(PolicySlot slot, PolicyCommunicator communicator) {
        this.slot = slot;
        this.communicator = communicator;
    }

    /** In bytes; 0: the policy leaves it to NCCL. */
    long decide(long scratch, int collective, long bytes, int algorithm, int protocol, int channels, long chunkOfNccl) {
        if (!slot.isFilled()) {
            return 0;
        }
        BYTES.set(scratch, bytes);
        COMM_ID.set(scratch, communicator.id());
        OF_NCCL.set(scratch, chunkOfNccl);
        COLLECTIVE.set(scratch, collective);
        RANKS.set(scratch, communicator.ranks());
        NODES.set(scratch, communicator.nodes());
        ALGORITHM.set(scratch, algorithm);
        PROTOCOL.set(scratch, protocol);
        CHANNELS.set(scratch, channels);
        CHUNK_BYTES.set(scratch, 0);
        return slot.run(scratch) == ProgramType.APPLY ? CHUNK_BYTES.get(scratch) : 0;
    }
}
