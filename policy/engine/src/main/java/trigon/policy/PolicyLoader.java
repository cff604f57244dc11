package trigon.policy;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import trigon.policy.compile.Compiler;
import trigon.policy.compile.Compiler.CompilationException;
import trigon.policy.elf.ObjectException;
import trigon.policy.elf.ObjectLoader;
import trigon.policy.elf.PolicyObject;
import trigon.policy.map.MapException;
import trigon.policy.map.MapSet;
import trigon.policy.map.NcclBpfMaps;
import trigon.policy.map.PolicyMap;
import trigon.policy.program.ProgramType;
import trigon.policy.uniformity.RankDependence;
import trigon.policy.verdict.VerificationException;
import trigon.policy.verdict.VerifiedProgram;
import trigon.policy.verify.DivisionByZero;
import trigon.policy.verify.Verifier;
import trigon.policy.verify.VerifierLimits;

/** Makes policies of objects, which are verified once and loaded for each set of maps. Thread-safe. */
public final class PolicyLoader {

    private final Verifier verifier;

    public PolicyLoader(VerifierLimits limits) {
        verifier = new Verifier(limits, DivisionByZero.REFUSED);
    }

    /**
     * Verifies all programs of an object, without loading it.
     *
     * @param name for messages, and for its global variables
     */
    public VerifiedPolicy verify(String name, byte[] bytes) throws PolicyException {
        try {
            PolicyObject object = ObjectLoader.load(name, bytes);
            List<VerifiedProgram> programs = new ArrayList<>();
            for (int entry : object.programs()) {
                programs.add(verifier.verify(object, entry));
            }
            RankDependence.Verdict ranks = RankDependence.check(programs, object.maps());
            return new VerifiedPolicy(name, digest(bytes), ranks.programs(), ranks.uses());
        } catch (ObjectException e) {
            throw new PolicyException(PolicyException.Kind.OBJECT, e);
        } catch (VerificationException e) {
            throw new PolicyException(PolicyException.Kind.VERIFICATION, e);
        }
    }

    /**
     * Tries whether it can be loaded where there are no maps yet.
     *
     * @throws PolicyException if not
     */
    public void check(VerifiedPolicy verified) throws PolicyException {
        try {
            var _ = compiled(verified, new MapSet().bind(verified.maps()));
        } catch (MapException e) {
            throw new PolicyException(PolicyException.Kind.MAP, verified.name(), e);
        }
    }

    /**
     * Loads an object, and warms it up.
     *
     * @param maps where its maps are, or will be
     * @param replaced name of the policy that it replaces; if there is none, its own
     * @throws PolicyException if anything is wrong with it
     */
    Policy load(VerifiedPolicy verified, MapSet maps, String replaced) throws PolicyException {
        try {
            List<PolicyMap> bound = maps.bind(verified.maps());
            List<Policy.Program> programs = compiled(verified, bound);
            if (verified.program(ProgramType.NCCLBPF).isPresent()) {
                NcclBpfMaps.configure(bound);
            }
            maps.onShadows(bound, () -> programs.forEach(Policy.Program::warmUp));
            maps.claim(verified.name(), replaced, verified.uses());
            maps.keep(verified.name(), replaced, verified.maps());
            return new Policy(verified.name(), verified.digest(), programs);
        } catch (MapException e) {
            throw new PolicyException(PolicyException.Kind.MAP, verified.name(), e);
        }
    }

    private static List<Policy.Program> compiled(VerifiedPolicy verified, List<PolicyMap> bound)
            throws PolicyException {
        List<Policy.Program> programs = new ArrayList<>();
        try {
            for (VerifiedProgram program : verified.programs()) {
                checkOnlyOne(programs, program);
                programs.add(new Policy.Program(
                        program.name(),
                        program.type(),
                        program.advisory(),
                        program.worstCase(),
                        Compiler.compile(program, bound, program.worstCase())));
            }
            return programs;
        } catch (CompilationException e) {
            throw new PolicyException(PolicyException.Kind.COMPILATION, verified.name(), e);
        }
    }

    private static void checkOnlyOne(List<Policy.Program> before, VerifiedProgram program) throws PolicyException {
        ProgramType type = program.type();
        for (Policy.Program other : before) {
            if (other.type().equals(type)) {
                throw new PolicyException(
                        PolicyException.Kind.AMBIGUOUS,
                        "%s: the programs %s and %s are both in the section %s; put one of them into another object"
                                .formatted(program.object().name(), other.name(), program.name(), type.section()));
            }
        }
    }

    private static String digest(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
