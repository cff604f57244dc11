package trigon.policy.verdict;

import java.util.SortedMap;
import java.util.TreeMap;
import trigon.policy.elf.PolicyObject;
import trigon.policy.flow.ControlFlow;
import trigon.policy.flow.Liveness;
import trigon.policy.isa.Instruction;
import trigon.policy.program.ProgramType;

/**
 * A program that may be run.
 *
 * @param entry index of its function in the object
 * @param functions it consists of, by their index
 * @param advisory it does without the proof that all ranks decide alike
 * @param worstCase how many instructions one run can take at most
 * @param explored how many instructions the verifier looked at
 */
public record VerifiedProgram(
        PolicyObject object,
        int entry,
        ProgramType type,
        boolean advisory,
        SortedMap<Integer, Function> functions,
        int worstCase,
        int explored) {

    public VerifiedProgram {
        functions = new TreeMap<>(functions);
    }

    /** The same, which does without that proof. */
    public VerifiedProgram asAdvisory() {
        return new VerifiedProgram(object, entry, type, true, functions, worstCase, explored);
    }

    public String name() {
        return object.functions().get(entry).name();
    }

    /** A function that a verified program consists of. */
    @SuppressWarnings("ArrayRecordComponent") // written by nobody, compared by nobody
    public record Function(
            PolicyObject.Function source,
            Instruction[] code,
            ControlFlow flow,
            Liveness liveness,
            FunctionFacts facts) {}
}
