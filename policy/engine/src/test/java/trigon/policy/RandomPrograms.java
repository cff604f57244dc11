package trigon.policy;

import java.util.List;
import java.util.Random;
import trigon.policy.isa.Encoding;
import trigon.policy.map.MapSpec;
import trigon.policy.map.MapSpec.MapType;

/** Programs at random: most of them make some sense, so that the verifier accepts many. */
final class RandomPrograms {

    /** Offsets of words in a value of the array, and what is none. */
    private static final byte[] CONSTANTS = {0, 8, 16, 8, 0, 16, 0, 8, 16, 16, 8, 0, 24, 3, -1, 100};

    static final List<MapSpec> MAPS = List.of(
            MapSpec.of("array", MapType.ARRAY, 4, 24, 3),
            MapSpec.of("hash", MapType.HASH, 8, 16, 4),
            MapSpec.of("lru", MapType.LRU_HASH, 4, 8, 3),
            MapSpec.of("ring", MapType.RING_BUFFER, 0, 0, 4096),
            new MapSpec("constants", MapType.ARRAY, 4, 16, 1, true, CONSTANTS));

    private static final int[] ALU = {0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x90, 0xa0, 0xb0, 0xc0};
    private static final int[] JUMPS = {0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0xa0, 0xb0, 0xc0, 0xd0};
    private static final int[] ATOMICS = {0x00, 0x01, 0x40, 0x41, 0x50, 0x51, 0xa0, 0xa1, 0xe1, 0xf1};

    private final Random random;
    private final boolean withMaps;
    private Code code = new Code();

    RandomPrograms(Random random) {
        this(random, true);
    }

    private RandomPrograms(Random random, boolean withMaps) {
        this.random = random;
        this.withMaps = withMaps;
    }

    /** On nothing but registers, the stack and the context, as the kernel takes them. */
    static RandomPrograms withoutMaps(Random random) {
        return new RandomPrograms(random, false);
    }

    /** r6 is the context throughout; the others hold numbers between the steps. */
    long[] next() {
        code = new Code();
        code.move(6, 1);
        for (int register : new int[] {0, 2, 3, 4, 5, 7, 8, 9}) {
            switch (random.nextInt(3)) {
                case 0 -> code.set(register, constant());
                case 1 -> code.load64(register, 6, 8 * random.nextInt(2));
                default -> code.constant(register, random.nextLong() >> random.nextInt(64));
            }
        }
        code.store64(10, -8, 7).store64(10, -16, 8).store64(10, -24, 9);
        steps(4 + random.nextInt(20), 0);
        code.slot(0x7b, 6, register(), 24, 0);
        return code.exit().slots();
    }

    private void steps(int count, int depth) {
        for (int i = 0; i < count; i++) {
            int step = random.nextInt(14);
            switch (withMaps || (step != 8 && step != 9 && step != 12) ? step : 0) {
                case 0, 1, 2, 3 -> arithmetic();
                case 4 -> code.slot(new int[] {0x73, 0x6b, 0x63, 0x7b}[random.nextInt(4)], 10, register(), offset(), 0);
                case 5 ->
                    code.slot(
                            new int[] {0x71, 0x69, 0x61, 0x79, 0x91, 0x89, 0x81}[random.nextInt(7)],
                            register(),
                            10,
                            offset(),
                            0);
                case 6, 7 -> branch(depth);
                case 8 -> lookup(depth);
                case 9 -> update();
                case 10 -> loop(depth);
                case 11 -> variableOffset();
                case 12 -> offsetOfConstants();
                default -> code.slot(random.nextBoolean() ? 0xdb : 0xc3, 10, register(), offset(), pick(ATOMICS));
            }
        }
    }

    private void arithmetic() {
        boolean wide = random.nextBoolean();
        boolean operand = random.nextBoolean();
        int operation = pick(ALU);
        if (random.nextInt(12) == 0) {
            code.slot(random.nextBoolean() ? 0x87 : 0x84, register(), 0, 0, 0);
        } else if (random.nextInt(12) == 0) {
            code.slot(new int[] {0xd4, 0xdc, 0xd7}[random.nextInt(3)], register(), 0, 0, 16 << random.nextInt(3));
        } else if (random.nextInt(12) == 0) {
            code.slot(wide ? 0xbf : 0xbc, register(), register(), 8 << random.nextInt(wide ? 3 : 2), 0);
        } else {
            boolean divides = operation == 0x30 || operation == 0x90;
            code.slot(
                    operation | (wide ? 7 : 4) | (operand ? 8 : 0),
                    register(),
                    operand ? register() : 0,
                    divides && random.nextBoolean() ? 1 : 0,
                    operand ? 0 : immediate(operation, wide));
        }
    }

    /** The kernel refuses to shift by more than there is, of which others use the low bits. */
    private int immediate(int operation, boolean wide) {
        boolean shifts = operation == 0x60 || operation == 0x70 || operation == 0xc0;
        return shifts && !withMaps ? constant() & (wide ? 63 : 31) : constant();
    }

    private void branch(int depth) {
        if (depth > 3) {
            return;
        }
        boolean operand = random.nextBoolean();
        int opcode = pick(JUMPS) | (random.nextBoolean() ? 5 : 6) | (operand ? 8 : 0);
        int left = register();
        int right = operand ? register() : 0;
        int immediate = operand ? 0 : constant();
        Code before = code;
        code = new Code();
        steps(1 + random.nextInt(4), depth + 1);
        Code body = code;
        code = before.slot(opcode, left, right, body.size(), immediate).append(body);
    }

    /** A counter in r9, which the body may spoil: then the verifier has to notice. */
    private void loop(int depth) {
        if (depth > 1) {
            return;
        }
        int rounds = 1 + random.nextInt(6);
        code.set(9, 0);
        Code before = code;
        code = new Code();
        steps(1 + random.nextInt(3), depth + 2);
        Code body = code.slot(0x07, 9, 0, 0, 1);
        code = before.append(body).slot(random.nextBoolean() ? 0xa5 : 0xc5, 9, 0, -body.size() - 1, rounds);
    }

    private void lookup(int depth) {
        int map = random.nextInt(3);
        code.move(2, 10).slot(0x07, 2, 0, 0, random.nextBoolean() ? -8 : -16);
        if (random.nextBoolean()) {
            code.slot(0x7a, 10, 0, -8, random.nextInt(4));
        }
        code.map(1, map).call(1);
        Code before = code;
        code = new Code();
        int size = new int[] {24, 16, 8}[map];
        for (int i = random.nextInt(3); i >= 0; i--) {
            int at = 8 * random.nextInt(size / 8);
            switch (random.nextInt(4)) {
                case 0 -> code.load64(7, 0, at);
                case 1 -> code.store64(0, at, 8);
                case 2 -> {
                    // an index that is only safe because of the mask
                    code.move(3, 8).slot(0x57, 3, 0, 0, size - 8 & 0x18).slot(0x57, 3, 0, 0, 0x18);
                    code.slot(0x0f, 3, 0, 0, 0).slot(0x79, 7, 3, 0, 0);
                }
                default -> code.slot(0xdb, 0, 8, at, pick(ATOMICS) & 0x51);
            }
        }
        Code body = code;
        code = before.slot(0x15, 0, 0, body.size(), 0).append(body);
        // numbers again, in all that the call left undefined
        for (int register : new int[] {0, 2, 3, 4, 5}) {
            code.move(register, 7 + random.nextInt(3));
        }
        if (depth == 0 && random.nextInt(4) == 0) {
            code.slot(0x62, 6, 0, 32, random.nextInt(1000));
        }
    }

    /** Reads a word of the array's first value at an offset from the constants: safe if all that may be meant are. */
    private void offsetOfConstants() {
        code.move(3, register()).slot(0x57, 3, 0, 0, pick(new int[] {1, 3, 7, 7, 15}));
        code.slot(0x18, 2, Encoding.SOURCE_MAP_VALUE, 0, 4).slot(0, 0, 0, 0, 0);
        code.slot(0x0f, 2, 3, 0, 0).slot(0x71, 3, 2, 0, 0);
        code.slot(0x18, 2, Encoding.SOURCE_MAP_VALUE, 0, 0).slot(0, 0, 0, 0, 0);
        code.slot(0x0f, 2, 3, 0, 0).slot(0x79, 7, 2, 0, 0).set(2, 0);
    }

    private void update() {
        switch (random.nextInt(4)) {
            case 0 -> {
                code.move(2, 10)
                        .slot(0x07, 2, 0, 0, -8)
                        .map(1, 1 + random.nextInt(2))
                        .call(3);
            }
            case 1 -> {
                code.move(2, 10).slot(0x07, 2, 0, 0, -16).set(3, 1 + random.nextInt(16));
                code.set(4, random.nextInt(2)).map(1, 3).call(130);
            }
            default -> {
                code.move(2, 10).slot(0x07, 2, 0, 0, -8).move(3, 10).slot(0x07, 3, 0, 0, -24);
                code.set(4, random.nextInt(3)).map(1, random.nextInt(3)).call(2);
            }
        }
        for (int register : new int[] {2, 3, 4, 5}) {
            code.move(register, 0);
        }
    }

    /** Reads or writes the stack at a place that is computed. */
    private void variableOffset() {
        int index = register();
        if (index == 5) {
            return;
        }
        code.move(5, index);
        if (random.nextInt(4) != 0) {
            code.slot(0x57, 5, 0, 0, 8 * random.nextInt(3));
        } else {
            code.slot(pick(JUMPS) | 5, 5, 0, 1, 16).set(5, 8);
        }
        code.slot(0x0f, 5, 10, 0, 0);
        if (random.nextBoolean()) {
            code.slot(0x79, 5, 5, -24, 0);
        } else {
            code.slot(0x7b, 5, 7, -24, 0).set(5, 1);
        }
    }

    private int register() {
        return new int[] {0, 2, 3, 4, 5, 7, 8, 9}[random.nextInt(8)];
    }

    private int offset() {
        return -8 * (1 + random.nextInt(3)) + (random.nextInt(4) == 0 ? 4 : 0);
    }

    private int constant() {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt();
            case 1 -> random.nextInt(64) - 32;
            case 2 -> 1 << random.nextInt(32);
            default -> random.nextInt(1 << 16);
        };
    }

    private int pick(int[] from) {
        return from[random.nextInt(from.length)];
    }

    /** The same with some bits changed. */
    long[] mutated(long[] from) {
        long[] to = from.clone();
        for (int i = random.nextInt(3); i >= 0; i--) {
            int slot = random.nextInt(to.length);
            to[slot] = switch (random.nextInt(4)) {
                case 0 -> to[slot] ^ 1L << random.nextInt(64);
                case 1 -> to[random.nextInt(to.length)];
                case 2 -> to[slot] ^ (long) random.nextInt(16) << 8;
                default -> (to[slot] & 0xffff_ffffL) | ((long) constant() << 32);
            };
        }
        return to;
    }
}
