package trigon.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import trigon.policy.map.MapSet;
import trigon.policy.verdict.Rejection;
import trigon.policy.verdict.Rejection.Rule;
import trigon.policy.verdict.VerificationException;
import trigon.policy.verdict.VerifiedProgram;
import trigon.policy.verify.VerifierLimits;

/** Seven unsafe programs are refused for the right reason, seven safe ones and all examples are accepted. */
class VerdictTest {

    private final PolicyLoader loader = new PolicyLoader(VerifierLimits.DEFAULT);

    @ParameterizedTest
    @CsvSource({
        "null_check, NULL_CHECK, not be in map ",
        "context_read, CONTEXT_BOUNDS, offset 256",
        "helper, UNKNOWN_HELPER, helper 4096",
        "stack, STACK_BOUNDS, from -520",
        "endless_loop, INFINITE_LOOP, nothing changed",
        "context_write, CONTEXT_BOUNDS, offset 256",
        "division, DIVISION_BY_ZERO, may be zero",
    })
    void unsafeProgramsAreRefused(String name, Rule rule, String reason) throws IOException {
        Rejection rejection = rejection(Objects.program("unsafe_" + name));
        assertThat(rejection.rule()).isEqualTo(rule);
        assertThat(rejection.reason()).contains(reason);
        assertThat(rejection.program()).isEqualTo("program");
        assertThat(rejection.source()).hasValueSatisfying(line -> {
            assertThat(line.file()).endsWith("unsafe_" + name + ".c");
            assertThat(line.line()).isPositive();
            assertThat(line.text()).isNotBlank();
        });
        assertThat(rejection.toString())
                .contains("instruction " + rejection.slot(), rule.name())
                .containsPattern("\n +\\^\n");
        assertThat(rejection.summary())
                .contains("\"" + rejection.source().orElseThrow().text().strip() + "\"")
                .doesNotContain("\n");
    }

    private Rejection rejection(byte[] object) {
        PolicyException refused = catchThrowableOfType(PolicyException.class, () -> loader.verify("test.o", object));
        assertThat(refused).isNotNull();
        if (refused.getCause() instanceof VerificationException verification) {
            return verification.rejection();
        }
        throw new AssertionError("refused otherwise", refused);
    }

    static List<String> safePrograms() throws IOException {
        return Objects.in(Objects.PROGRAMS, "safe_");
    }

    @ParameterizedTest
    @MethodSource("safePrograms")
    void safeProgramsAreAccepted(String name) throws Exception {
        Policy policy = new PolicyHost(loader, new MapSet()).replace(name, Objects.program(name));
        assertThat(policy.programs()).hasSize(1);
    }

    static List<String> examples() throws IOException {
        return Objects.in(Objects.EXAMPLES, "");
    }

    @ParameterizedTest
    @MethodSource("examples")
    void examplesAreAccepted(String name) throws Exception {
        List<VerifiedProgram> programs =
                loader.verify(name, Objects.example(name)).programs();
        assertThat(programs).isNotEmpty().allSatisfy(program -> {
            System.out.println(name + " " + program.name() + " worst case " + program.worstCase() + ", explored "
                    + program.explored());
            assertThat(program.worstCase()).isPositive();
        });
        assertThat(new PolicyHost(loader, new MapSet())
                        .replace(name, Objects.example(name))
                        .programs())
                .hasSameSizeAs(programs);
    }

    @Test
    void thereAreSevenOfEachAndAllExamples() throws IOException {
        assertThat(safePrograms()).hasSize(7);
        assertThat(Objects.in(Objects.PROGRAMS, "unsafe_")).hasSize(7);
        assertThat(examples()).hasSize(16);
    }
}
