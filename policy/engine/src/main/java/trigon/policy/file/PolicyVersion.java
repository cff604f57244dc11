package trigon.policy.file;

import java.util.List;
import java.util.Optional;
import trigon.policy.VerifiedPolicy;
import trigon.policy.program.ProgramType;
import trigon.policy.verdict.VerifiedProgram;

/** A version of a policy's file that was accepted: it has been verified, and can be compiled. Immutable. */
public final class PolicyVersion {

    private static final int SHOWN_DIGITS = 12;
    private static final int FINGERPRINT_DIGITS = 8;
    private static final int HEXADECIMAL = 16;

    private final VerifiedPolicy verified;

    PolicyVersion(VerifiedPolicy verified) {
        this.verified = verified;
    }

    /** Name of the file, without its folders. */
    public String name() {
        return verified.name();
    }

    /** Content of the file, ready to be loaded. */
    public VerifiedPolicy verified() {
        return verified;
    }

    /** The program of a kind, if it has one. */
    public Optional<VerifiedProgram> program(ProgramType type) {
        return verified.program(type);
    }

    /** SHA-256 of the object, in hexadecimal. */
    public String digest() {
        return verified.digest();
    }

    /** Tells whether NCCL hangs where ranks have different versions of it: it decides, and they do not agree first. */
    public boolean decidesForAllRanks() {
        List<VerifiedProgram> deciding = verified.programs().stream()
                .filter(program -> program.type().ranksMustAgree())
                .toList();
        return !deciding.isEmpty() && deciding.stream().noneMatch(VerifiedProgram::advisory);
    }

    /** The first bytes of the digest, to be compared between nodes. */
    public int fingerprint() {
        return Integer.parseUnsignedInt(verified.digest(), 0, FINGERPRINT_DIGITS, HEXADECIMAL);
    }

    @Override
    public String toString() {
        List<String> programs = verified.programs().stream()
                .map(program -> program.type().section() + " " + program.name())
                .toList();
        return "%s (%s; %s)"
                .formatted(
                        verified.name(),
                        String.join(", ", programs),
                        verified.digest().substring(0, SHOWN_DIGITS));
    }
}
