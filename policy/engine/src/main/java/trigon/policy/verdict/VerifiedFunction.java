package trigon.policy.verdict;

import trigon.policy.elf.PolicyFunction;
import trigon.policy.flow.ControlFlow;
import trigon.policy.flow.Liveness;
import trigon.policy.isa.Instruction;

/** A function that a verified program consists of. */
@SuppressWarnings("ArrayRecordComponent") // written by nobody, compared by nobody
public record VerifiedFunction(
        PolicyFunction source, Instruction[] code, ControlFlow flow, Liveness liveness, FunctionFacts facts) {}
