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

    private static final int SHOWN_DIGITS = 12;
    private static final int FINGERPRINT_DIGITS = 8;
    private static final int HEXADECIMAL = 16;

    public VerifiedPolicy {
        programs = List.copyOf(programs);
        uses = List.copyOf(uses);
    }

    /** The program of a kind, if it has one. */
    public Optional<VerifiedProgram> program(ProgramType type) {
        return programs.stream().filter(program -> program.type().equals(type)).findFirst();
    }

    /** Tells whether NCCL hangs where ranks have different versions of it: it decides, and they do not agree first. */
    public boolean decidesForAllRanks() {
        List<VerifiedProgram> deciding = programs.stream()
                .filter(program -> program.type().ranksMustAgree())
                .toList();
        return !deciding.isEmpty() && deciding.stream().noneMatch(VerifiedProgram::advisory);
    }

    /** The first bytes of the digest, to be compared between nodes. */
    public int fingerprint() {
        return Integer.parseUnsignedInt(digest, 0, FINGERPRINT_DIGITS, HEXADECIMAL);
    }

    /** The maps that it declares. */
    List<MapSpec> maps() {
        return programs.getFirst().object().maps();
    }

    @Override
    public String toString() {
        List<String> sections = programs.stream()
                .map(program -> program.type().section() + " " + program.name())
                .toList();
        return "%s (%s; %s)".formatted(name, String.join(", ", sections), digest.substring(0, SHOWN_DIGITS));
    }
}
