package trigon.policy;

import java.util.Random;

/** Around the powers of two where instructions change their mind. */
final class InterestingNumbers {

    static final long[] ALL = {
        0,
        1,
        2,
        3,
        7,
        31,
        32,
        33,
        63,
        64,
        127,
        128,
        255,
        256,
        0x7fff,
        0x8000,
        0xffff,
        0x7fff_ffffL,
        0x8000_0000L,
        0xffff_ffffL,
        0x1_0000_0000L,
        0x0123_4567_89ab_cdefL,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        -1,
        -2,
        -7,
        -128,
        -32768,
        -0x8000_0000L,
        -0x8000_0001L
    };

    private InterestingNumbers() {}

    /** One of these, or another, of any length. */
    static long next(Random random) {
        return switch (random.nextInt(5)) {
            case 0 -> random.nextInt(4);
            case 1 -> random.nextLong() >> random.nextInt(64);
            case 2 -> 1L << random.nextInt(64);
            case 3 -> ALL[random.nextInt(ALL.length)];
            default -> random.nextLong();
        };
    }
}
