package trigon.policy;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.junit.jupiter.api.Tag;
import trigon.policy.verify.VerifierLimits;

/** Whatever the bytes of an object are, it is verified or refused. */
@Tag("fuzz")
class ObjectFuzzTest {

    private static final VerifierLimits LIMITS = new VerifierLimits(2_000, 200, 20_000);

    @FuzzTest
    void objectsAreVerifiedOrRefused(byte[] data) {
        try {
            new PolicyLoader(LIMITS).verify("fuzzed.o", data);
        } catch (PolicyException e) {
            if (!String.valueOf(e.getMessage()).contains("fuzzed.o")) {
                throw new AssertionError("the message does not name the file", e);
            }
        }
    }
}
