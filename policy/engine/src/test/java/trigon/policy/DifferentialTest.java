package trigon.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.policy.verdict.VerificationException;
import trigon.policy.verdict.VerifiedProgram;
import trigon.policy.verify.DivisionByZero;
import trigon.policy.verify.Verifier;
import trigon.policy.verify.VerifierLimits;

/**
 * Whatever the verifier accepts runs without a trap in an interpreter that checks everything, within the instructions
 * that were promised, and does the same when it is compiled.
 */
class DifferentialTest {

    private static final int PROGRAMS = Integer.getInteger("trigon.policy.programs", 300);
    private static final int RUNS = Integer.getInteger("trigon.policy.runs", 40);
    private static final VerifierLimits LIMITS = new VerifierLimits(5_000, 500, 50_000);

    @Test
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void compiledProgramsDoWhatInterpretedOnesDo() throws Exception {
        long seed = Long.getLong("trigon.policy.seed", System.nanoTime());
        System.out.println("seed " + seed);
        Accepted accepted = tryAll(seed, PROGRAMS);
        System.out.printf(
                "accepted %d, mutants %d, of %d; %d runs%n",
                accepted.programs(), accepted.mutants(), PROGRAMS, accepted.runs());
        assertThat(accepted.programs()).isBetween(PROGRAMS / 20, PROGRAMS - 1);
        assertThat(accepted.mutants()).isPositive();
    }

    /** Numbers of programs that the verifier accepted; each ran compiled and interpreted, on as many inputs. */
    record Accepted(int programs, int mutants) {
        long runs() {
            return (long) RUNS * (programs + mutants);
        }
    }

    /** Random programs, and a mutant of each. */
    static Accepted tryAll(long seed, int count) throws Exception {
        Random random = new Random(seed);
        RandomPrograms programs = new RandomPrograms(random);
        int accepted = 0;
        int mutants = 0;
        for (int i = 0; i < count; i++) {
            long[] code = programs.next();
            accepted += check(code, random, seed, i) ? 1 : 0;
            mutants += check(programs.mutated(code), random, seed, i) ? 1 : 0;
        }
        return new Accepted(accepted, mutants);
    }

    private static boolean check(long[] code, Random random, long seed, int number) throws Exception {
        DivisionByZero division = random.nextBoolean() ? DivisionByZero.DEFINED : DivisionByZero.REFUSED;
        VerifiedProgram program;
        try {
            program = new Verifier(LIMITS, division)
                    .verify(Code.object("test", RandomPrograms.MAPS, code), 0, Bench.TYPE);
        } catch (VerificationException e) {
            assertThat(e.rejection().reason()).isNotBlank();
            return false;
        }
        try (Bench bench = new Bench(program)) {
            for (int run = 0; run < RUNS; run++) {
                bench.run(InterestingNumbers.next(random), InterestingNumbers.next(random), random);
            }
        } catch (RuntimeException | Error e) {
            throw new AssertionError("seed %d, program %d".formatted(seed, number), e);
        }
        return true;
    }
}
