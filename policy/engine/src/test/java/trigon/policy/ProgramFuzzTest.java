package trigon.policy;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import trigon.policy.verdict.VerificationException;
import trigon.policy.verdict.VerifiedProgram;
import trigon.policy.verify.DivisionByZero;
import trigon.policy.verify.Verifier;
import trigon.policy.verify.VerifierLimits;

/**
 * Whatever the instructions are: if they are accepted, compiled and interpreted they do the same, and nothing
 * forbidden.
 */
@Tag("fuzz")
class ProgramFuzzTest {

    private static final VerifierLimits LIMITS = new VerifierLimits(2_000, 200, 20_000);
    private static final int MAX_SLOTS = 64;

    @FuzzTest
    void acceptedProgramsAreSafe(byte[] data) throws Exception {
        long[] code = new long[Math.min(MAX_SLOTS, data.length / 8)];
        ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(code);
        VerifiedProgram program;
        try {
            program = new Verifier(LIMITS, DivisionByZero.DEFINED)
                    .verify(Code.object("test", RandomPrograms.MAPS, code), 0, Bench.TYPE);
        } catch (VerificationException e) {
            return;
        }
        Random random = new Random(data.length);
        try (Bench bench = new Bench(program)) {
            bench.run(random.nextLong(), random.nextInt(8), random);
            bench.run(random.nextInt(8), random.nextLong(), random);
        }
    }
}
