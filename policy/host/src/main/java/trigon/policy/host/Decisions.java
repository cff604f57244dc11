package trigon.policy.host;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import trigon.nccl.TunerChoice;
import trigon.policy.PolicyHost;
import trigon.policy.map.NcclBpfMaps;
import trigon.policy.map.PolicyMap;
import trigon.policy.program.NcclBpf;
import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramType.Field;
import trigon.system.Memory;

/**
 * The answers of a communicator's tuner. NCCL calls for a communicator from one thread at a time. Neither allocates
 * nor blocks nor throws.
 */
sealed interface Decisions permits Decisions.TunerProgram, Decisions.NcclBpfProgram, DecisionTable {

    /**
     * Answers one call of {@code getCollInfo}.
     *
     * @param scratch address of the memory that programs work on
     * @param pipeOps as NCCL's {@code getCollInfo} has it
     * @param regBuff likewise
     * @return a {@link trigon.nccl.TunerChoice}
     */
    long decide(long scratch, int collective, long bytes, int pipeOps, int regBuff);

    /** Runs a host's program for each call, as if nothing had been called yet. */
    static Decisions byProgram(PolicyHost host, PolicyCommunicator communicator) {
        return host.slot(ProgramType.NCCLBPF).isFilled()
                ? new NcclBpfProgram(host, communicator)
                : new TunerProgram(host.slot(ProgramType.TUNER), communicator);
    }

    /** Answers by a program, which is run for each call. */
    final class TunerProgram implements Decisions {

        private static final int UNKNOWN_RANK = -1;

        private static final ProgramType TUNER = ProgramType.TUNER;
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

        private final PolicyHost.Slot slot;
        private final PolicyCommunicator communicator;
        private long calls;

        /** Decides for one communicator, by the program in a slot. */
        TunerProgram(PolicyHost.Slot slot, PolicyCommunicator communicator) {
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

    /** Answers by a program that was written for NCCLbpf, which is run for each call. */
    final class NcclBpfProgram implements Decisions {

        private static final ProgramType TYPE = ProgramType.NCCLBPF;
        private static final Field BYTES = TYPE.field("n_bytes");
        private static final Field LAST_LATENCY = TYPE.field("last_latency_ns");
        private static final Field AVERAGE_LATENCY = TYPE.field("avg_latency_ns");
        private static final Field P99_LATENCY = TYPE.field("rolling_p99_ns");
        private static final Field CALLS = TYPE.field("call_count");
        private static final Field COLLECTIVE = TYPE.field("coll_type");
        private static final Field PIPE_OPS = TYPE.field("num_pipe_ops");
        private static final Field REG_BUFF = TYPE.field("reg_buff");
        private static final Field RANKS = TYPE.field("n_ranks");
        private static final Field NODES = TYPE.field("n_nodes");
        private static final Field CHANNELS = TYPE.field("current_channels");
        private static final Field RESERVED = TYPE.field("reserved");

        /** A key of the map of telemetry, and as much for the map's own copy of it. */
        private static final int KEY_BYTES = 8;

        private final PolicyHost.Slot slot;
        private final PolicyCommunicator communicator;
        private final @Nullable PolicyMap telemetry;
        private final MemorySegment key = Arena.ofAuto().allocate(2 * KEY_BYTES, KEY_BYTES);
        private long calls;
        private int channels;

        /** Decides for one communicator, by the program and the maps of a host. */
        NcclBpfProgram(PolicyHost host, PolicyCommunicator communicator) {
            slot = host.slot(TYPE);
            telemetry = NcclBpfMaps.telemetry(host.maps()).orElse(null);
            this.communicator = communicator;
        }

        @Override
        public long decide(long scratch, int collective, long bytes, int pipeOps, int regBuff) {
            BYTES.set(scratch, bytes);
            CALLS.set(scratch, calls++);
            COLLECTIVE.set(scratch, collective);
            PIPE_OPS.set(scratch, pipeOps);
            REG_BUFF.set(scratch, regBuff);
            RANKS.set(scratch, communicator.ranks());
            NODES.set(scratch, communicator.nodes());
            CHANNELS.set(scratch, channels);
            RESERVED.set(scratch, 0);
            setLatencies(scratch, measured(collective));
            long result = slot.run(scratch);
            int chosen = NcclBpf.channels(result);
            channels = chosen > 0 ? chosen : channels;
            return NcclBpf.chooses(result)
                    ? TunerChoice.of(NcclBpf.algorithm(result), NcclBpf.protocol(result), chosen, 0)
                    : TunerChoice.NONE;
        }

        /** Address of the times that such collectives took; 0: they are not known. */
        private long measured(int collective) {
            if (telemetry == null) {
                return 0;
            }
            long at = key.address();
            Memory.putInt(at, collective);
            Memory.putInt(at + Integer.BYTES, communicator.nodes());
            return telemetry.lookup(at, 0, at + KEY_BYTES);
        }

        private static void setLatencies(long scratch, long measured) {
            LAST_LATENCY.set(scratch, measured == 0 ? 0 : Memory.getLong(measured));
            AVERAGE_LATENCY.set(scratch, measured == 0 ? 0 : Memory.getLong(measured + NcclBpfMaps.AVERAGE));
            P99_LATENCY.set(scratch, measured == 0 ? 0 : Memory.getLong(measured + NcclBpfMaps.P99));
        }
    }
}
