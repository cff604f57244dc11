package trigon.policy;

import java.util.List;
import java.util.Optional;
import java.util.Random;
import trigon.policy.compile.PolicyCode;
import trigon.policy.compile.PolicyCode.BudgetExceededException;
import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramType.Field;

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
    public record Program(String name, ProgramType type, boolean advisory, int worstCase, PolicyCode code) {

        /** The JVM compiles a method for good after some ten thousand calls, in the background. */
        private static final int MAX_WARM_UPS = 30_000;

        /** Bound of all runs, in instructions: loading has to end soon on the slowest machine, too. */
        private static final int MAX_WORK = 30_000_000;

        private static final long ON_SHADOWS = -1;

        /**
         * Runs the program before it is switched in, so that the JVM compiles it. Works on the maps' shadows, so that
         * nobody sees anything of it.
         */
        void warmUp() {
            Random random = new Random(1);
            try (ProgramContext context = new ProgramContext(type)) {
                for (int run = warmUps(worstCase); run > 0; run--) {
                    fill(context, random);
                    code.run(context.address(), context.stackTop(), ON_SHADOWS);
                }
            } catch (BudgetExceededException e) {
                throw new IllegalStateException("the verifier's worst case was exceeded by " + name, e);
            }
        }

        /** Number of runs for warming up. */
        static int warmUps(int worstCase) {
            return Math.min(MAX_WARM_UPS, MAX_WORK / Math.max(1, worstCase));
        }

        /** Sizes of all magnitudes, small numbers for the rest, so that the branches of real programs are taken. */
        private void fill(ProgramContext context, Random random) {
            for (Field field : type.fields()) {
                long value = field.bytes() == Long.BYTES
                        ? random.nextLong() >>> (24 + random.nextInt(40))
                        : random.nextInt(16);
                context.set(field, field.isOutput() ? 0 : value);
            }
        }
    }

    public Policy {
        programs = List.copyOf(programs);
    }

    public Optional<Program> program(ProgramType type) {
        return programs.stream().filter(program -> program.type().equals(type)).findFirst();
    }
}
