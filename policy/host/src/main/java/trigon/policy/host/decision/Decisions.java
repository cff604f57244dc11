package trigon.policy.host.decision;

import trigon.policy.PolicyHost;
import trigon.policy.program.ProgramTypes;

/**
 * The answers of a communicator's tuner. NCCL calls for a communicator from one thread at a time. Neither allocates
 * nor blocks nor throws.
 */
public sealed interface Decisions permits TunerProgram, NcclBpfProgram, DecisionTable {

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
        return host.slot(ProgramTypes.NCCLBPF).isFilled()
                ? new NcclBpfProgram(host, communicator)
                : new TunerProgram(host.slot(ProgramTypes.TUNER), communicator);
    }
}
