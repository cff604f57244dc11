package trigon.policy;

import java.util.Random;
import trigon.policy.compile.BudgetExceededException;
import trigon.policy.program.Field;

/**
 * Runs a program before it is switched in, so that the JVM compiles it. Works on the maps' shadows, so that nobody sees
 * anything of it.
 */
final class Warmup {

    /** The JVM compiles a method for good after some ten thousand calls, in the background. */
    private static final int MAX_RUNS = 30_000;

    /** Bound of all runs, in instructions: loading has to end soon on the slowest machine, too. */
    private static final int MAX_WORK = 30_000_000;

    private static final long ON_SHADOWS = -1;

    private Warmup() {}

    static void warm(Policy.Program program) {
        Random random = new Random(1);
        try (ProgramContext context = new ProgramContext(program.type())) {
            for (int run = runs(program.worstCase()); run > 0; run--) {
                fill(context, program, random);
                program.code().run(context.address(), context.stackTop(), ON_SHADOWS);
            }
        } catch (BudgetExceededException e) {
            throw new IllegalStateException("the verifier's worst case was exceeded by " + program.name(), e);
        }
    }

    /** Number of runs of a program. */
    static int runs(int worstCase) {
        return Math.min(MAX_RUNS, MAX_WORK / Math.max(1, worstCase));
    }

    /** Sizes of all magnitudes, small numbers for the rest, so that the branches of real programs are taken. */
    private static void fill(ProgramContext context, Policy.Program program, Random random) {
        for (Field field : program.type().fields()) {
            long value =
                    field.bytes() == Long.BYTES ? random.nextLong() >>> (24 + random.nextInt(40)) : random.nextInt(16);
            context.set(field, field.isOutput() ? 0 : value);
        }
    }
}
