package trigon.policy;

import java.util.List;
import java.util.Optional;
import trigon.policy.compile.PolicyCode;
import trigon.policy.program.ProgramType;

/**
 * A loaded object, ready to run. Immutable.
 *
 * @param name it was loaded as
 * @param digest SHA-256 of the object, in hexadecimal: the same on all ranks if the policy is
 * @param programs at most one of each kind
 */
public record Policy(String name, String digest, List<Program> programs) {

    /**
     * A program of it.
     *
     * @param name of the function in C
     * @param advisory its decisions are not shown to be the same on all ranks: only to be used where they need not be
     * @param worstCase how many instructions one run takes at most
     */
    public record Program(String name, ProgramType type, boolean advisory, int worstCase, PolicyCode code) {}

    public Policy {
        programs = List.copyOf(programs);
    }

    public Optional<Program> program(ProgramType type) {
        return programs.stream().filter(program -> program.type().equals(type)).findFirst();
    }
}
