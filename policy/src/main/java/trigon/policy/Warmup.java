package trigon.policy;

import java.util.Random;
import trigon.policy.compile.BudgetExceededException;
import trigon.policy.program.Field;

/**
 * Runs a program before it is switched in, until the JVM has compiled it. Works on the maps' shadows, so that nobody
 * sees anything of it.
 */
final class Warmup {

    /** The JVM compiles a method for good after some ten thousand calls, in the background. */
    private static final int ROUNDS = 10;

    private static final int RUNS = 3_000;
    private static final long PAUSE_MILLIS = 3;
    private static final long ON_SHADOWS = -1;

    private Warmup() {}

    static void warm(Policy.Program program) {
        Random random = new Random(1);
        try (ProgramContext context = new ProgramContext(program.type())) {
            for (int round = 0; round < ROUNDS; round++) {
                for (int run = 0; run < RUNS; run++) {
                    fill(context, program, random);
                    program.code().run(context.address(), context.stackTop(), ON_SHADOWS);
                }
                Thread.sleep(PAUSE_MILLIS);
            }
        } catch (BudgetExceededException e) {
            throw new IllegalStateException("the verifier's worst case was exceeded by " + program.name(), e);
        } catch (InterruptedException e) {
            // not warm, but right
            Thread.currentThread().interrupt();
        }
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
