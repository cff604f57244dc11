package trigon.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import trigon.policy.compile.Compiler;
import trigon.policy.compile.Compiler.CompilationException;
import trigon.policy.map.MapSet;
import trigon.policy.verdict.Rejection.Rule;
import trigon.policy.verdict.VerificationException;
import trigon.policy.verdict.VerifiedProgram;
import trigon.policy.verify.DivisionByZero;
import trigon.policy.verify.Verifier;
import trigon.policy.verify.VerifierLimits;

/** Each rule is broken by a program of a few instructions. */
class RuleTest {

    private final Verifier verifier = new Verifier(VerifierLimits.DEFAULT, DivisionByZero.REFUSED);

    record Broken(Rule rule, String how, Code code) {
        @Override
        public String toString() {
            return rule + ": " + how;
        }
    }

    private static Broken broken(Rule rule, String how, Code code) {
        return new Broken(rule, how, code.exit());
    }

    private static Code code() {
        return new Code();
    }

    /** r0 is the first value of an array of 24 bytes, not zero. */
    private static Code value() {
        return code().slot(0x62, 10, 0, -4, 0)
                .move(2, 10)
                .slot(0x07, 2, 0, 0, -4)
                .map(1, 0)
                .call(1)
                .slot(0x55, 0, 0, 1, 0)
                .exit();
    }

    static Stream<Broken> programs() {
        return Stream.of(
                broken(Rule.INVALID_INSTRUCTION, "no such opcode", code().slot(0xff, 0, 0, 0, 0)),
                broken(Rule.INVALID_INSTRUCTION, "packet access", code().slot(0x20, 0, 0, 0, 0)),
                broken(Rule.INVALID_INSTRUCTION, "call through a register", code().slot(0x8d, 0, 0, 0, 1)),
                broken(Rule.INVALID_INSTRUCTION, "reserved field", code().slot(0xb7, 0, 1, 0, 0)),
                broken(Rule.INVALID_INSTRUCTION, "register 11", code().slot(0xbf, 11, 0, 0, 0)),
                broken(Rule.INVALID_INSTRUCTION, "kernel function", code().slot(0x85, 0, 2, 0, 1)),
                broken(Rule.CONTROL_FLOW, "out of the function", code().slot(0x05, 0, 0, 9, 0)),
                broken(
                        Rule.CONTROL_FLOW,
                        "into an instruction",
                        code().slot(0x05, 0, 0, 1, 0).constant(0, 1)),
                broken(Rule.UNINITIALIZED, "register", code().move(0, 5)),
                broken(Rule.UNINITIALIZED, "no result", code()),
                broken(Rule.UNINITIALIZED, "stack", code().load64(0, 10, -8)),
                broken(Rule.UNINITIALIZED, "cleared by a call", value().move(0, 3)),
                broken(
                        Rule.UNINITIALIZED,
                        "half of it",
                        code().slot(0x62, 10, 0, -8, 0).load64(0, 10, -8)),
                broken(Rule.FRAME_POINTER, "written", code().set(10, 1)),
                broken(Rule.CONTEXT_BOUNDS, "between fields", code().slot(0x61, 0, 1, 20, 0)),
                broken(Rule.CONTEXT_BOUNDS, "two fields", code().load64(0, 1, 16)),
                broken(
                        Rule.STACK_BOUNDS,
                        "above",
                        code().slot(0x7a, 10, 0, 0, 1).set(0, 0)),
                broken(
                        Rule.STACK_BOUNDS,
                        "below",
                        code().slot(0x7a, 10, 0, -520, 1).set(0, 0)),
                broken(Rule.MAP_BOUNDS, "behind", value().load64(0, 0, 24)),
                broken(Rule.MAP_BOUNDS, "in front", value().load64(0, 0, -8)),
                broken(
                        Rule.MAP_BOUNDS,
                        "index",
                        code().load64(7, 1, 0)
                                .slot(0x57, 7, 0, 0, 31)
                                .append(value())
                                .slot(0x0f, 0, 7, 0, 0)
                                .slot(0x71, 0, 0, 0, 0)),
                broken(Rule.ALIGNMENT, "stack", code().store64(10, -12, 10).set(0, 0)),
                broken(Rule.NULL_CHECK, "added to", unchecked().slot(0x07, 0, 0, 0, 8)),
                broken(Rule.READ_ONLY, "input", code().slot(0x7a, 1, 0, 0, 1).set(0, 0)),
                broken(Rule.NOT_A_POINTER, "number", code().set(2, 1).load64(0, 2, 0)),
                broken(Rule.NOT_A_POINTER, "map", code().map(2, 0).load64(0, 2, 0)),
                broken(Rule.POINTER_ARITHMETIC, "product", code().move(0, 1).slot(0x27, 0, 0, 0, 2)),
                broken(
                        Rule.POINTER_ARITHMETIC,
                        "unbounded",
                        code().load64(2, 1, 0).slot(0x0f, 1, 2, 0, 0).load64(0, 1, 0)),
                broken(Rule.POINTER_ARITHMETIC, "addresses of two look-ups are compared", addressesOfTwoLookups()),
                broken(Rule.POINTER_LEAK, "result", code().move(0, 1)),
                broken(Rule.POINTER_LEAK, "output", code().store64(1, 24, 10).set(0, 0)),
                broken(Rule.POINTER_LEAK, "map", value().store64(0, 0, 10).set(0, 0)),
                broken(Rule.UNKNOWN_HELPER, "none", code().call(4096)),
                broken(
                        Rule.HELPER_ARGUMENT,
                        "no map",
                        code().set(1, 0).move(2, 10).call(1)),
                broken(
                        Rule.HELPER_ARGUMENT,
                        "wrong map",
                        code().map(1, 3).move(2, 10).call(1)),
                broken(
                        Rule.DIVISION_BY_ZERO,
                        "input",
                        code().load64(2, 1, 0).set(0, 1).slot(0x3f, 0, 2, 0, 0)),
                broken(
                        Rule.DIVISION_BY_ZERO,
                        "low half",
                        code().constant(2, 1L << 32).set(0, 1).slot(0x9c, 0, 2, 0, 0)),
                broken(
                        Rule.OUTPUT_BOUNDS,
                        "above",
                        code().slot(0x62, 1, 0, 32, 1001).set(0, 0)),
                broken(
                        Rule.OUTPUT_BOUNDS,
                        "below",
                        code().slot(0x62, 1, 0, 32, -6).set(0, 0)),
                broken(Rule.CALL_DEPTH, "itself", code().slot(0x85, 0, 1, 0, 0)),
                broken(Rule.INFINITE_LOOP, "nothing", code().slot(0x05, 0, 0, -1, 0)),
                broken(Rule.TOO_LONG, "a loop of many rounds", loop(50_000)),
                broken(Rule.TOO_LONG, "a loop that copies much", copies(9000)),
                broken(Rule.TOO_COMPLEX, "a loop of too many rounds", loop(1_000_000)),
                broken(Rule.TOO_COMPLEX, "a loop with too many branches", branches(20_000)));
    }

    /**
     * One way two addresses of the same value meet, the other way those of two look-ups: that they differ then has to
     * be looked at, too.
     */
    private static Code addressesOfTwoLookups() {
        Code second = unchecked().slot(0x55, 0, 0, 1, 0).exit().move(7, 0);
        second.append(unchecked()).slot(0x55, 0, 0, 1, 0).exit().move(8, 0);
        Code first = code();
        for (int register : new int[] {7, 8}) {
            first.slot(0x18, register, 2, 0, 0).slot(0, 0, 0, 0, 0);
        }
        first.slot(0x05, 0, 0, second.size(), 0);
        return code().load64(6, 1, 0)
                .set(9, 0)
                .slot(0x25, 6, 0, first.size(), 1000)
                .append(first)
                .append(second)
                .set(0, 0)
                .slot(0x1d, 7, 8, 1, 0)
                .set(0, 1);
    }

    private static Code loop(int rounds) {
        return code().set(0, 0).slot(0x07, 0, 0, 0, 1).slot(0xa5, 0, 0, -2, rounds);
    }

    /** Hands over 512 bytes of the stack each round. */
    private static Code copies(int rounds) {
        Code code = code().set(6, 0).set(7, 0);
        for (int at = -512; at < 0; at += 8) {
            code.store64(10, at, 7);
        }
        Code round = code().move(2, 10)
                .slot(0x07, 2, 0, 0, -512)
                .set(3, 512)
                .set(4, 0)
                .map(1, 3)
                .call(130);
        round.slot(0x07, 6, 0, 0, 1);
        return code.append(round).slot(0xa5, 6, 0, -round.size() - 1, rounds).set(0, 0);
    }

    /** Each round writes to the stack, and leaves another way to be gone along later. */
    private static Code branches(int rounds) {
        return code().load64(7, 1, 0)
                .set(6, 0)
                .store64(10, -8, 6)
                .slot(0x1d, 7, 6, 1, 0)
                .slot(0x07, 6, 0, 0, 1)
                .slot(0xa5, 6, 0, -4, rounds)
                .set(0, 0);
    }

    private static Code unchecked() {
        return code().slot(0x62, 10, 0, -4, 0)
                .move(2, 10)
                .slot(0x07, 2, 0, 0, -4)
                .map(1, 0)
                .call(1);
    }

    @ParameterizedTest
    @MethodSource("programs")
    void isRefused(Broken broken) {
        VerificationException refused = catchThrowableOfType(
                VerificationException.class,
                () -> verifier.verify(Code.object("test", RandomPrograms.MAPS, broken.code.slots()), 0, Bench.TYPE));
        assertThat(refused).isNotNull();
        assertThat(refused.rejection().rule()).as(refused.getMessage()).isEqualTo(broken.rule);
    }

    @Test
    void sectionsNameAKind() {
        VerificationException refused = catchThrowableOfType(
                VerificationException.class,
                () -> verifier.verify(
                        Code.object(
                                "xdp", List.of(), new Code().set(0, 0).exit().slots()),
                        0));
        assertThat(refused.rejection().rule()).isEqualTo(Rule.PROGRAM_TYPE);
        assertThat(refused).hasMessageContaining("net/connect");
    }

    @Test
    void resultsHaveBounds() {
        VerificationException refused = catchThrowableOfType(
                VerificationException.class,
                () -> verifier.verify(
                        Code.object(
                                "tuner", List.of(), new Code().set(0, 2).exit().slots()),
                        0));
        assertThat(refused.rejection().rule()).isEqualTo(Rule.RETURN_VALUE);
    }

    @Test
    void stackOfFunctionsAddsUp() {
        long[] main =
                code().slot(0x7a, 10, 0, -256, 1).slot(0x85, 0, 1, 0, 1).exit().slots();
        long[] called = code().slot(0x7a, 10, 0, -264, 1).set(0, 0).exit().slots();
        VerificationException refused = catchThrowableOfType(
                VerificationException.class,
                () -> verifier.verify(Code.object("test", List.of(), main, called), 0, Bench.TYPE));
        assertThat(refused.rejection().rule()).isEqualTo(Rule.STACK_BOUNDS);
    }

    @Test
    void allFunctionsTogetherHaveALimit() {
        long[][] functions = new long[6][];
        Code large = code();
        for (int i = 0; i < 4000; i++) {
            large.set(0, i);
        }
        Code main = code();
        for (int function = 1; function < functions.length; function++) {
            main.slot(0x85, 0, 1, 0, function);
            functions[function] = code().append(large).exit().slots();
        }
        functions[0] = main.exit().slots();
        VerificationException refused = catchThrowableOfType(
                VerificationException.class,
                () -> verifier.verify(Code.object("test", List.of(), functions), 0, Bench.TYPE));
        assertThat(refused.rejection().rule()).isEqualTo(Rule.TOO_COMPLEX);
    }

    @Test
    void functionsTooLargeForTheJvmAreRefused() throws Exception {
        Code large = code().load64(0, 1, 0);
        for (int i = 0; i < 2000; i++) {
            large.slot(0x0f, 0, 0, 0, 0);
        }
        VerifiedProgram program =
                verifier.verify(Code.object("test", List.of(), large.exit().slots()), 0, Bench.TYPE);
        assertThat(catchThrowableOfType(
                        CompilationException.class, () -> Compiler.compile(program, new MapSet().bind(List.of()), 1)))
                .hasMessageContaining("noinline");
    }
}
