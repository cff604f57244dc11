package trigon.policy.file;

import java.util.List;
import java.util.Optional;
import trigon.policy.Policy;
import trigon.policy.program.ProgramType;

/** A version of a policy's file that was accepted: it has been verified, compiled and run. Immutable. */
public final class PolicyVersion {

    private static final int SHOWN_DIGITS = 12;
    private static final int FINGERPRINT_DIGITS = 8;
    private static final int HEXADECIMAL = 16;

    private final String name;
    private final byte[] object;
    private final Policy policy;

    PolicyVersion(String name, byte[] object, Policy policy) {
        this.name = name;
        this.object = object.clone();
        this.policy = policy;
    }

    /** Of the file, without its folders. */
    public String name() {
        return name;
    }

    /** The ELF object that the file held; a copy. */
    public byte[] object() {
        return object.clone();
    }

    /** The program of a kind, if it has one. */
    public Optional<Policy.Program> program(ProgramType type) {
        return policy.program(type);
    }

    /** SHA-256 of the object, in hexadecimal. */
    public String digest() {
        return policy.digest();
    }

    /** The first bytes of the digest, to be compared between nodes. */
    public int fingerprint() {
        return Integer.parseUnsignedInt(policy.digest(), 0, FINGERPRINT_DIGITS, HEXADECIMAL);
    }

    @Override
    public String toString() {
        List<String> programs = policy.programs().stream()
                .map(program -> program.type().section() + " " + program.name())
                .toList();
        return "%s (%s; %s)"
                .formatted(name, String.join(", ", programs), policy.digest().substring(0, SHOWN_DIGITS));
    }
}
