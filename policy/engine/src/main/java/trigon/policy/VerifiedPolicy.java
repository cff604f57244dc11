package trigon.policy;

import java.util.List;
import java.util.Optional;
import trigon.policy.map.MapSet;
import trigon.policy.map.MapSpec;
import trigon.policy.program.ProgramType;
import trigon.policy.verdict.VerifiedProgram;

/**
 * An object that may be loaded, any number of times: it was verified once. Immutable.
 *
 * @param name its identity: maps and global variables of an earlier version with the same name are kept
 * @param digest SHA-256 of the object, in hexadecimal: the same on all ranks if the policy is
 * @param programs all that it has
 * @param uses how they use their maps
 */
public record VerifiedPolicy(String name, String digest, List<VerifiedProgram> programs, List<MapSet.Use> uses) {

    public VerifiedPolicy {
        programs = List.copyOf(programs);
        uses = List.copyOf(uses);
    }

    /** The program of a kind, if it has one. */
    public Optional<VerifiedProgram> program(ProgramType type) {
        return programs.stream().filter(program -> program.type().equals(type)).findFirst();
    }

    /** The maps that it declares. */
    List<MapSpec> maps() {
        return programs.getFirst().object().maps();
    }
}
