package trigon.policy.range;

/**
 * A tristate number: bits known to be set ({@code value}), bits unknown ({@code mask}), and all others known to be
 * clear. No bit is in both.
 */
public record Tnum(long value, long mask) {

    static final Tnum UNKNOWN = new Tnum(0, -1);

    static Tnum constant(long value) {
        return new Tnum(value, 0);
    }

    /** The common high bits of all numbers from {@code low} to {@code high}, unsigned. */
    static Tnum between(long low, long high) {
        long differing = low ^ high;
        if (differing == 0) {
            return constant(low);
        }
        int unknownBits = 64 - Long.numberOfLeadingZeros(differing);
        long unknown = unknownBits == 64 ? -1 : (1L << unknownBits) - 1;
        return new Tnum(low & ~unknown, unknown);
    }

    /** The bits that are known of all of its numbers, and of one more. */
    Tnum including(long number) {
        long unknown = mask | (value ^ number);
        return new Tnum(number & ~unknown, unknown);
    }

    Tnum add(Tnum other) {
        long masks = mask + other.mask;
        long values = value + other.value;
        long unknown = ((masks + values) ^ values) | mask | other.mask;
        return new Tnum(values & ~unknown, unknown);
    }

    Tnum subtract(Tnum other) {
        long difference = value - other.value;
        long unknown = ((difference + mask) ^ (difference - other.mask)) | mask | other.mask;
        return new Tnum(difference & ~unknown, unknown);
    }

    Tnum and(Tnum other) {
        long set = value & other.value;
        return new Tnum(set, (value | mask) & (other.value | other.mask) & ~set);
    }

    Tnum or(Tnum other) {
        long set = value | other.value;
        return new Tnum(set, (mask | other.mask) & ~set);
    }

    Tnum xor(Tnum other) {
        long unknown = mask | other.mask;
        return new Tnum((value ^ other.value) & ~unknown, unknown);
    }

    /** The sum of the partial products of long multiplication, bit by bit. */
    Tnum multiply(Tnum other) {
        Tnum sum = constant(value * other.value);
        Tnum uncertain = constant(0);
        Tnum left = this;
        Tnum right = other;
        while (left.value != 0 || left.mask != 0) {
            if ((left.value & 1) != 0) {
                uncertain = uncertain.add(new Tnum(0, right.mask));
            } else if ((left.mask & 1) != 0) {
                uncertain = uncertain.add(new Tnum(0, right.value | right.mask));
            }
            left = left.shiftRight(1);
            right = right.shiftLeft(1);
        }
        return sum.add(uncertain);
    }

    Tnum shiftLeft(int bits) {
        return new Tnum(value << bits, mask << bits);
    }

    Tnum shiftRight(int bits) {
        return new Tnum(value >>> bits, mask >>> bits);
    }

    Tnum shiftRightArithmetic(int bits) {
        return new Tnum(value >> bits, mask >> bits);
    }

    /** Tells whether the two contradict each other. */
    boolean excludes(Tnum other) {
        return ((value ^ other.value) & ~mask & ~other.mask) != 0;
    }

    /** The bits that either knows; the two must not exclude each other. */
    Tnum intersect(Tnum other) {
        long unknown = mask & other.mask;
        return new Tnum((value | other.value) & ~unknown, unknown);
    }

    boolean contains(Tnum other) {
        return (other.mask & ~mask) == 0 && ((value ^ other.value) & ~mask) == 0;
    }

    /** Tells whether every member is a multiple of a power of two. */
    boolean isMultipleOf(int powerOfTwo) {
        return ((value | mask) & (powerOfTwo - 1)) == 0;
    }
}
