package trigon.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import trigon.policy.map.MapSpec;
import trigon.policy.map.MapSpec.MapType;
import trigon.policy.verify.DivisionByZero;
import trigon.policy.verify.Verifier;
import trigon.policy.verify.VerifierLimits;

/** Each instruction on numbers that are interesting, against whole numbers without a limit. */
class InstructionSemanticsTest {

    private static final BigInteger TWO_64 = BigInteger.TWO.pow(64);
    private static final BigInteger TWO_32 = BigInteger.TWO.pow(32);
    private static final long[] NUMBERS = InterestingNumbers.ALL;

    private final Verifier verifier = new Verifier(VerifierLimits.DEFAULT, DivisionByZero.DEFINED);
    private final Random garbage = new Random(1);

    interface Meaning {
        /** Applies the operation to operands from 0 to 2^width - 1; the result is cut to the width afterward. */
        BigInteger of(BigInteger a, BigInteger b, int width);
    }

    record Operation(String name, int code, int offset, Meaning meaning) {
        @Override
        public String toString() {
            return name;
        }
    }

    static BigInteger signed(BigInteger value, int width) {
        return value.testBit(width - 1) ? value.subtract(BigInteger.TWO.pow(width)) : value;
    }

    private static BigInteger low(BigInteger value, int width) {
        return value.mod(BigInteger.TWO.pow(width));
    }

    private static int amount(BigInteger b, int width) {
        return b.intValue() & (width - 1);
    }

    static List<Operation> arithmetic() {
        return List.of(
                new Operation("add", 0x00, 0, (a, b, w) -> a.add(b)),
                new Operation("sub", 0x10, 0, (a, b, w) -> a.subtract(b)),
                new Operation("mul", 0x20, 0, (a, b, w) -> a.multiply(b)),
                new Operation("div", 0x30, 0, (a, b, w) -> b.signum() == 0 ? b : a.divide(b)),
                new Operation(
                        "sdiv",
                        0x30,
                        1,
                        (a, b, w) -> b.signum() == 0 ? b : signed(a, w).divide(signed(b, w))),
                new Operation("or", 0x40, 0, (a, b, w) -> a.or(b)),
                new Operation("and", 0x50, 0, (a, b, w) -> a.and(b)),
                new Operation("lsh", 0x60, 0, (a, b, w) -> a.shiftLeft(amount(b, w))),
                new Operation("rsh", 0x70, 0, (a, b, w) -> a.shiftRight(amount(b, w))),
                new Operation("mod", 0x90, 0, (a, b, w) -> b.signum() == 0 ? a : a.remainder(b)),
                new Operation(
                        "smod",
                        0x90,
                        1,
                        (a, b, w) -> b.signum() == 0 ? a : signed(a, w).remainder(signed(b, w))),
                new Operation("xor", 0xa0, 0, (a, b, w) -> a.xor(b)),
                new Operation("mov", 0xb0, 0, (a, b, w) -> b),
                new Operation("arsh", 0xc0, 0, (a, b, w) -> signed(a, w).shiftRight(amount(b, w))));
    }

    static List<Operation> ofRegistersOnly() {
        return List.of(
                new Operation("movsx8", 0xb0, 8, (a, b, w) -> signed(low(b, 8), 8)),
                new Operation("movsx16", 0xb0, 16, (a, b, w) -> signed(low(b, 16), 16)));
    }

    @ParameterizedTest
    @MethodSource({"arithmetic", "ofRegistersOnly"})
    void arithmeticOfRegisters(Operation operation) throws Exception {
        for (int width : new int[] {32, 64}) {
            int opcode = operation.code | 8 | (width == 64 ? 7 : 4);
            try (Bench bench = bench(operands()
                    .slot(opcode, 2, 3, operation.offset, 0)
                    .move(0, 2)
                    .exit())) {
                for (long a : NUMBERS) {
                    for (long b : NUMBERS) {
                        assertThat(bench.run(a, b, garbage))
                                .as("%d bits, %x, %x", width, a, b)
                                .isEqualTo(expected(operation.meaning, a, b, width));
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("arithmetic")
    void arithmeticOfConstants(Operation operation) throws Exception {
        for (int width : new int[] {32, 64}) {
            int opcode = operation.code | (width == 64 ? 7 : 4);
            for (long number : NUMBERS) {
                int constant = (int) number;
                try (Bench bench = bench(operands()
                        .slot(opcode, 2, 0, operation.offset, constant)
                        .move(0, 2)
                        .exit())) {
                    for (long a : NUMBERS) {
                        assertThat(bench.run(a, 0, garbage))
                                .as("%d bits, %x, %x", width, a, constant)
                                .isEqualTo(expected(operation.meaning, a, constant, width));
                    }
                }
            }
        }
    }

    @Test
    void ofOneOperand() throws Exception {
        one(0x87, 0, 0, a -> a.negate().mod(TWO_64));
        one(0x84, 0, 0, a -> a.negate().mod(TWO_32));
        for (int bits : new int[] {16, 32, 64}) {
            one(0xd4, 0, bits, a -> low(a, bits));
            one(0xdc, 0, bits, a -> reversed(a, bits));
            one(0xd7, 0, bits, a -> reversed(a, bits));
        }
        // the only one that is of 64 bits only
        try (Bench bench = bench(operands().slot(0xbf, 2, 3, 32, 0).move(0, 2).exit())) {
            for (long b : NUMBERS) {
                assertThat(bench.run(0, b, garbage))
                        .isEqualTo(signed(unsigned(b, 32), 32).longValue());
            }
        }
    }

    private interface OneOperand {
        BigInteger of(BigInteger a);
    }

    private void one(int opcode, int offset, int immediate, OneOperand meaning) throws Exception {
        try (Bench bench = bench(
                operands().slot(opcode, 2, 0, offset, immediate).move(0, 2).exit())) {
            for (long a : NUMBERS) {
                assertThat(bench.run(a, 0, garbage))
                        .as("0x%x %d of %x", opcode, immediate, a)
                        .isEqualTo(meaning.of(unsigned(a, 64)).longValue());
            }
        }
    }

    private static BigInteger reversed(BigInteger value, int bits) {
        BigInteger result = BigInteger.ZERO;
        for (int at = 0; at < bits; at += 8) {
            result = result.shiftLeft(8).add(low(value.shiftRight(at), 8));
        }
        return result;
    }

    interface Condition {
        boolean of(BigInteger a, BigInteger b, int width);
    }

    record Comparing(String name, int code, Condition condition) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Comparing> comparisons() {
        return Stream.of(
                new Comparing("jeq", 0x10, (a, b, w) -> a.equals(b)),
                new Comparing("jgt", 0x20, (a, b, w) -> a.compareTo(b) > 0),
                new Comparing("jge", 0x30, (a, b, w) -> a.compareTo(b) >= 0),
                new Comparing("jset", 0x40, (a, b, w) -> a.and(b).signum() != 0),
                new Comparing("jne", 0x50, (a, b, w) -> !a.equals(b)),
                new Comparing("jsgt", 0x60, (a, b, w) -> signed(a, w).compareTo(signed(b, w)) > 0),
                new Comparing("jsge", 0x70, (a, b, w) -> signed(a, w).compareTo(signed(b, w)) >= 0),
                new Comparing("jlt", 0xa0, (a, b, w) -> a.compareTo(b) < 0),
                new Comparing("jle", 0xb0, (a, b, w) -> a.compareTo(b) <= 0),
                new Comparing("jslt", 0xc0, (a, b, w) -> signed(a, w).compareTo(signed(b, w)) < 0),
                new Comparing("jsle", 0xd0, (a, b, w) -> signed(a, w).compareTo(signed(b, w)) <= 0));
    }

    @ParameterizedTest
    @MethodSource("comparisons")
    void branches(Comparing comparing) throws Exception {
        for (int width : new int[] {32, 64}) {
            int opcode = comparing.code | (width == 64 ? 5 : 6);
            try (Bench bench = bench(
                    operands().set(0, 1).slot(opcode | 8, 2, 3, 1, 0).set(0, 0).exit())) {
                for (long a : NUMBERS) {
                    for (long b : NUMBERS) {
                        boolean holds = comparing.condition.of(unsigned(a, width), unsigned(b, width), width);
                        assertThat(bench.run(a, b, garbage)).isEqualTo(holds ? 1 : 0);
                    }
                }
            }
            for (long number : NUMBERS) {
                int constant = (int) number;
                try (Bench bench = bench(operands()
                        .set(0, 1)
                        .slot(opcode, 2, 0, 1, constant)
                        .set(0, 0)
                        .exit())) {
                    for (long a : NUMBERS) {
                        boolean holds = comparing.condition.of(unsigned(a, width), unsigned(constant, width), width);
                        assertThat(bench.run(a, 0, garbage)).isEqualTo(holds ? 1 : 0);
                    }
                }
            }
        }
    }

    @Test
    void jumps() throws Exception {
        for (int opcode : new int[] {0x05, 0x06}) {
            boolean wide = opcode == 0x05;
            try (Bench bench = bench(operands()
                    .set(0, 7)
                    .slot(opcode, 0, 0, wide ? 1 : 0, wide ? 0 : 1)
                    .set(0, 8)
                    .exit())) {
                assertThat(bench.run(0, 0, garbage)).isEqualTo(7);
            }
        }
    }

    @Test
    void loadsAndStores() throws Exception {
        int[] sizes = {0x10, 0x08, 0x00, 0x18};
        for (int i = 0; i < sizes.length; i++) {
            int bits = 8 << i;
            // by register, by constant; and back with the high bits clear, or copies of the sign
            for (boolean register : new boolean[] {true, false}) {
                for (boolean extends_ : new boolean[] {true, false}) {
                    if (extends_ && bits == 64) {
                        continue;
                    }
                    int load = 0x01 | sizes[i] | (extends_ ? 0x80 : 0x60);
                    int store = (register ? 0x63 : 0x62) | sizes[i];
                    try (Bench bench = bench(operands()
                            .slot(store, 10, register ? 2 : 0, -8, register ? 0 : -0x1234_5678)
                            .slot(load, 0, 10, -8, 0)
                            .exit())) {
                        for (long a : NUMBERS) {
                            BigInteger stored = low(unsigned(register ? a : -0x1234_5678, 64), bits);
                            BigInteger read = extends_ ? signed(stored, bits) : stored;
                            assertThat(bench.run(a, 0, garbage)).isEqualTo(read.longValue());
                        }
                    }
                }
            }
        }
    }

    @Test
    void constantsOf64Bits() throws Exception {
        for (long number : NUMBERS) {
            try (Bench bench = bench(new Code().constant(0, number).exit())) {
                assertThat(bench.run(0, 0, garbage)).isEqualTo(number);
            }
        }
    }

    record AtomicCase(String name, int code, Meaning stored) {}

    @Test
    void atomics() throws Exception {
        List<AtomicCase> cases = List.of(
                new AtomicCase("add", 0x00, (a, b, w) -> a.add(b)),
                new AtomicCase("or", 0x40, (a, b, w) -> a.or(b)),
                new AtomicCase("and", 0x50, (a, b, w) -> a.and(b)),
                new AtomicCase("xor", 0xa0, (a, b, w) -> a.xor(b)),
                new AtomicCase("xchg", 0xe0, (a, b, w) -> b));
        for (AtomicCase atomic : cases) {
            for (int width : new int[] {32, 64}) {
                for (int fetch : atomic.code == 0xe0 ? new int[] {1} : new int[] {0, 1}) {
                    atomic(atomic, width, fetch);
                }
            }
        }
    }

    private void atomic(AtomicCase atomic, int width, int fetch) throws Exception {
        int size = width == 64 ? 0xdb : 0xc3;
        int load = width == 64 ? 0x79 : 0x61;
        for (boolean memory : new boolean[] {true, false}) {
            Code code = operands();
            int base = memory ? 10 : 6;
            if (base == 6) {
                mapValueInR6(code);
            }
            int offset = base == 10 ? -8 : 0;
            code.store64(base, offset, 2)
                    .slot(size, base, 3, offset, atomic.code | fetch)
                    .slot(load, 4, base, offset, 0)
                    .slot(0x7b, 7, 4, 24, 0)
                    .move(0, 3)
                    .exit();
            try (Bench bench = bench(code)) {
                for (long a : NUMBERS) {
                    for (long b : NUMBERS) {
                        long result = bench.run(a, b, garbage);
                        long fetched = unsigned(a, width).longValue();
                        assertThat(result).as("%s %d", atomic.name, width).isEqualTo(fetch == 1 ? fetched : b);
                        assertThat(bench.output()).isEqualTo(expected(atomic.stored, a, b, width));
                    }
                }
            }
        }
    }

    @Test
    void compareAndExchange() throws Exception {
        for (int width : new int[] {32, 64}) {
            Code code = operands()
                    .store64(10, -8, 2)
                    .move(0, 3)
                    .set(5, 99)
                    .slot(width == 64 ? 0xdb : 0xc3, 10, 5, -8, 0xf1)
                    .slot(width == 64 ? 0x79 : 0x61, 4, 10, -8, 0)
                    .slot(0x7b, 7, 4, 24, 0)
                    .exit();
            try (Bench bench = bench(code)) {
                for (long a : NUMBERS) {
                    for (long b : NUMBERS) {
                        boolean same = unsigned(a, width).equals(unsigned(b, width));
                        assertThat(bench.run(a, b, garbage))
                                .isEqualTo(unsigned(a, width).longValue());
                        assertThat(bench.output())
                                .isEqualTo(same ? 99 : unsigned(a, width).longValue());
                    }
                }
            }
        }
    }

    /** r2 and r3 are the operands, r7 the context. */
    private static Code operands() {
        return new Code().move(7, 1).load64(2, 7, 0).load64(3, 7, 8);
    }

    private static void mapValueInR6(Code code) {
        code.slot(0x62, 10, 0, -16, 0)
                .move(8, 2)
                .move(9, 3)
                .move(2, 10)
                .slot(0x07, 2, 0, 0, -16)
                .map(1, 0)
                .call(1)
                .slot(0x55, 0, 0, 1, 0)
                .exit()
                .move(6, 0)
                .move(2, 8)
                .move(3, 9);
    }

    private Bench bench(Code code) throws Exception {
        List<MapSpec> maps = new ArrayList<>(List.of(MapSpec.of("m", MapType.ARRAY, 4, 16, 1)));
        return new Bench(verifier.verify(Code.object("test", maps, code.slots()), 0, Bench.TYPE));
    }

    private static BigInteger unsigned(long value, int width) {
        return low(BigInteger.valueOf(value), width);
    }

    private static long expected(Meaning meaning, long a, long b, int width) {
        return low(meaning.of(unsigned(a, width), unsigned(b, width), width), width)
                .longValue();
    }
}
