package trigon.policy.host.decision;

import trigon.policy.PolicyHost;
import trigon.policy.program.ProgramTypes;

/**
 * Who answers for a communicator's tuner. NCCL calls for a communicator from one thread at a time. Neither allocates
 * nor blocks nor throws.
 */
public sealed interface Decisions permits TunerProgram, NcclBpfProgram, DecisionTable {

    /**
     * Answers one call.
     *
     * @param scratch address of the memory that programs work on; {@link TunerOutputs} are in it afterwards
     * @param pipeOps as NCCL's {@code getCollInfo} has it
     * @param regBuff likewise
     * @return whether the outputs count; if not, the choice is NCCL's
     */
    boolean decide(long scratch, int collective, long bytes, int pipeOps, int regBuff);

    /** The program of a communicator that a host has, asked for each call, as if nothing had been called yet. */
    static Decisions byProgram(PolicyHost host, PolicyCommunicator communicator) {
        return host.slot(ProgramTypes.NCCLBPF).isFilled()
                ? new NcclBpfProgram(host, communicator)
                : new TunerProgram(host.slot(ProgramTypes.TUNER), communicator);
    }
}
