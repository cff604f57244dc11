package trigon.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.policy.elf.PolicyObject;
import trigon.policy.isa.Encoding;
import trigon.policy.map.MapSpec;
import trigon.policy.map.MapSpec.MapType;
import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramType.Field;
import trigon.policy.verdict.Rejection.Rule;
import trigon.policy.verdict.VerificationException;
import trigon.policy.verdict.VerifiedProgram;
import trigon.policy.verify.DivisionByZero;
import trigon.policy.verify.Verifier;
import trigon.policy.verify.VerifierLimits;

/** Correct programs that are hard for the verifier. */
class AcceptedProgramsTest {

    private static final Field CHANNELS = ProgramType.TUNER.field("n_channels");

    private final Verifier verifier = new Verifier(VerifierLimits.DEFAULT, DivisionByZero.REFUSED);

    /**
     * Looks for the first row whose bounds the size is in, as clang arranges it: the number of the row is on the stack,
     * and the loop goes on in front of its body.
     */
    private static long[] firstRowThatFits(int rows) {
        Code start = new Code().move(6, 1).slot(0x62, 10, 0, -4, 0).slot(0x05, 0, 0, 5, 0);
        Code goOn = new Code()
                .slot(0x61, 1, 10, -4, 0)
                .slot(0x07, 1, 0, 0, 1)
                .slot(0x63, 10, 1, -4, 0)
                .slot(0xa5, 1, 0, 1, rows)
                .exit();
        Code body = new Code()
                .move(2, 10)
                .slot(0x07, 2, 0, 0, -4)
                .map(1, 0)
                .call(1)
                .move(1, 0)
                .set(0, 1);
        body.slot(0x15, 1, 0, -body.size() - 2, 0).load64(2, 6, 0).load64(3, 1, 0);
        body.slot(0xad, 2, 3, -body.size() - 1 - goOn.size(), 0).load64(3, 1, 8);
        body.slot(0x3d, 2, 3, -body.size() - 1 - goOn.size(), 0).slot(0x61, 1, 1, 16, 0);
        body.slot(0x25, 1, 0, -body.size() - 2, 64).slot(0x63, 6, 1, CHANNELS.offset(), 0);
        return start.append(goOn).append(body).set(0, 0).exit().slots();
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 48, 64, 2000})
    void tablesOfManyRows(int rows) throws Exception {
        List<MapSpec> maps = List.of(MapSpec.of("rows", MapType.ARRAY, 4, 24, rows));
        VerifiedProgram program = verifier.verify(Code.object("tuner", maps, firstRowThatFits(rows)), 0);
        assertThat(program.worstCase()).isBetween(10 * rows, 20 * rows);
        assertThat(program.explored()).as("each row is looked at once").isLessThan(40 * rows);
    }

    /** Stores its second argument into the words that its first one points to, and returns nothing. */
    private static final Code FILL =
            new Code().store64(1, 0, 2).slot(0x77, 2, 0, 0, 1).store64(1, 8, 2).exit();

    private static Code callOfFill() {
        return new Code().load64(2, 1, 0).move(1, 10).slot(0x07, 1, 0, 0, -16).slot(0x85, 0, 1, 0, 1);
    }

    @Test
    void functionsThatReturnNothing() throws Exception {
        long[] main = callOfFill().load64(0, 10, -8).exit().slots();
        PolicyObject object = Code.object("test", List.of(), main, FILL.slots());
        try (Bench bench = new Bench(verifier.verify(object, 0, Bench.TYPE))) {
            assertThat(bench.run(12, 0, new Random(1))).isEqualTo(6);
        }
    }

    /** Reads the array's word at the offset that one of the constants says. */
    private static long[] wordAtConstant(int mask) {
        return new Code()
                .load64(3, 1, 0)
                .slot(0x57, 3, 0, 0, mask)
                .slot(0x18, 2, Encoding.SOURCE_MAP_VALUE, 0, 1)
                .slot(0, 0, 0, 0, 0)
                .slot(0x0f, 2, 3, 0, 0)
                .slot(0x71, 3, 2, 0, 0)
                .slot(0x18, 2, Encoding.SOURCE_MAP_VALUE, 0, 0)
                .slot(0, 0, 0, 0, 0)
                .slot(0x0f, 2, 3, 0, 0)
                .load64(0, 2, 0)
                .exit()
                .slots();
    }

    @Test
    void constantsAreKnownByTheirValues() throws Exception {
        List<MapSpec> maps = List.of(
                MapSpec.of("array", MapType.ARRAY, 4, 24, 1),
                new MapSpec("constants", MapType.ARRAY, 4, 8, 1, true, new byte[] {8, 16, 0, 8, 24, 0, 0, 0}));
        try (Bench bench = new Bench(verifier.verify(Code.object("test", maps, wordAtConstant(3)), 0, Bench.TYPE))) {
            assertThat(bench.run(1, 0, new Random(1))).isZero();
        }
        PolicyObject tooFar = Code.object("test", maps, wordAtConstant(7));
        VerificationException refused =
                catchThrowableOfType(VerificationException.class, () -> verifier.verify(tooFar, 0, Bench.TYPE));
        assertThat(refused.rejection().rule()).isEqualTo(Rule.MAP_BOUNDS);
        assertThat(refused.rejection().reason()).contains("0 to 32 of a value of map array");
    }

    @Test
    void whatAFunctionDoesNotReturnCannotBeRead() {
        PolicyObject object = Code.object("test", List.of(), callOfFill().exit().slots(), FILL.slots());
        VerificationException refused =
                catchThrowableOfType(VerificationException.class, () -> verifier.verify(object, 0, Bench.TYPE));
        assertThat(refused).isNotNull();
        assertThat(refused.rejection().rule()).isEqualTo(Rule.UNINITIALIZED);
        assertThat(refused.rejection().function()).as("the caller reads it").isEqualTo("f0");
    }
}
