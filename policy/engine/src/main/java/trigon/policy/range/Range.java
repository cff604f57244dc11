package trigon.policy.range;

import org.jspecify.annotations.Nullable;

/**
 * A non-empty set of numbers of 64 bits: those which have the fixed bits, and lie within both bounds. Each part is as
 * narrow as the others make it.
 *
 * @param bits which bits are fixed
 * @param unsignedMin smallest, unsigned
 * @param unsignedMax largest, unsigned
 * @param min smallest, signed
 * @param max largest, signed
 */
public record Range(Tnum bits, long unsignedMin, long unsignedMax, long min, long max) {

    public static final Range UNKNOWN = new Range(Tnum.UNKNOWN, 0, -1, Long.MIN_VALUE, Long.MAX_VALUE);

    private static final long LOW_32 = 0xffff_ffffL;

    public static Range constant(long value) {
        return new Range(Tnum.constant(value), value, value, value, value);
    }

    /** With one more number: what is the same in it and in all others stays known. */
    public Range including(long value) {
        return nonEmpty(
                bits.including(value),
                Long.compareUnsigned(value, unsignedMin) < 0 ? value : unsignedMin,
                Long.compareUnsigned(value, unsignedMax) > 0 ? value : unsignedMax,
                Math.min(min, value),
                Math.max(max, value));
    }

    /** All numbers of so many low bits, the others clear. */
    public static Range ofBits(int count) {
        return count == 64 ? UNKNOWN : unsigned(0, (1L << count) - 1);
    }

    /** All numbers between two, unsigned. */
    public static Range unsigned(long min, long max) {
        return nonEmpty(Tnum.UNKNOWN, min, max, Long.MIN_VALUE, Long.MAX_VALUE);
    }

    /** All numbers between two, signed. */
    public static Range signed(long min, long max) {
        return nonEmpty(Tnum.UNKNOWN, 0, -1, min, max);
    }

    static Range ofTnum(Tnum bits) {
        return nonEmpty(bits, 0, -1, Long.MIN_VALUE, Long.MAX_VALUE);
    }

    /** The numbers that all parts agree on. */
    static Range nonEmpty(Tnum bits, long unsignedMin, long unsignedMax, long min, long max) {
        Range range = of(bits, unsignedMin, unsignedMax, min, max);
        // nothing fits only if nothing fitted the operands: such a path is impossible, and any range is true of it
        return range == null ? UNKNOWN : range;
    }

    /** The numbers that all parts agree on, or null if there are none. */
    static @Nullable Range of(Tnum bits, long unsignedMin, long unsignedMax, long min, long max) {
        Tnum fixed = bits;
        long ulow = unsignedMin;
        long uhigh = unsignedMax;
        long low = min;
        long high = max;
        // each part narrows the next; the second round brings what the last learned to the first
        for (int round = 0; round < 2; round++) {
            ulow = unsignedMax(ulow, fixed.value());
            uhigh = unsignedMin(uhigh, fixed.value() | fixed.mask());
            low = Math.max(low, fixed.value() | (fixed.mask() & Long.MIN_VALUE));
            high = Math.min(high, fixed.value() | (fixed.mask() & Long.MAX_VALUE));
            if (Long.compareUnsigned(ulow, uhigh) > 0 || low > high) {
                return null;
            }
            // bounds on one side of the sign are bounds of the other kind, too
            if (ulow < 0 == uhigh < 0) {
                low = Math.max(low, ulow);
                high = Math.min(high, uhigh);
            }
            if (low > high) {
                return null;
            }
            if (low < 0 == high < 0) {
                ulow = unsignedMax(ulow, low);
                uhigh = unsignedMin(uhigh, high);
            }
            if (Long.compareUnsigned(ulow, uhigh) > 0) {
                return null;
            }
            Tnum common = Tnum.between(ulow, uhigh);
            if (common.excludes(fixed)) {
                return null;
            }
            fixed = fixed.intersect(common);
        }
        return new Range(fixed, ulow, uhigh, low, high);
    }

    /** The numbers that are in both, or null if there are none. */
    public @Nullable Range intersect(Range other) {
        if (bits.excludes(other.bits)) {
            return null;
        }
        return of(
                bits.intersect(other.bits),
                unsignedMax(unsignedMin, other.unsignedMin),
                unsignedMin(unsignedMax, other.unsignedMax),
                Math.max(min, other.min),
                Math.min(max, other.max));
    }

    /** Tells whether every member of the other is one of this. */
    public boolean contains(Range other) {
        return bits.contains(other.bits)
                && Long.compareUnsigned(unsignedMin, other.unsignedMin) <= 0
                && Long.compareUnsigned(unsignedMax, other.unsignedMax) >= 0
                && min <= other.min
                && max >= other.max;
    }

    /** Tells whether a number is a member. */
    public boolean contains(long value) {
        return contains(constant(value));
    }

    public boolean isConstant() {
        return unsignedMin == unsignedMax;
    }

    /** The only member; of a constant range only. */
    public long value() {
        return unsignedMin;
    }

    /** Tells whether every member is a multiple of a power of two. */
    public boolean isMultipleOf(int powerOfTwo) {
        return bits.isMultipleOf(powerOfTwo);
    }

    /** The low bits of the members, the others cleared. */
    public Range lowBits(int count) {
        if (count == 64) {
            return this;
        }
        long keep = (1L << count) - 1;
        Tnum low = new Tnum(bits.value() & keep, bits.mask() & keep);
        if (unsignedMin >>> count == unsignedMax >>> count) {
            return nonEmpty(low, unsignedMin & keep, unsignedMax & keep, Long.MIN_VALUE, Long.MAX_VALUE);
        }
        if (min >> count == max >> count) {
            return nonEmpty(low, min & keep, max & keep, Long.MIN_VALUE, Long.MAX_VALUE);
        }
        return ofTnum(low);
    }

    /** The low bits of the members, sign-extended. */
    public Range signExtended(int count) {
        if (count == 64) {
            return this;
        }
        Range low = lowBits(count);
        long sign = 1L << (count - 1);
        int shift = 64 - count;
        Tnum extended = low.bits.shiftLeft(shift).shiftRightArithmetic(shift);
        if (Long.compareUnsigned(low.unsignedMin, sign) >= 0) {
            long above = -1L << count;
            return nonEmpty(extended, 0, -1, low.unsignedMin | above, low.unsignedMax | above);
        }
        if (Long.compareUnsigned(low.unsignedMax, sign) < 0) {
            return low;
        }
        return nonEmpty(extended, 0, -1, -sign, sign - 1);
    }

    /** Tells whether the high half of every member is clear. */
    boolean fitsUnsigned32() {
        return Long.compareUnsigned(unsignedMax, LOW_32) <= 0;
    }

    private static long unsignedMin(long a, long b) {
        return Long.compareUnsigned(a, b) <= 0 ? a : b;
    }

    private static long unsignedMax(long a, long b) {
        return Long.compareUnsigned(a, b) >= 0 ? a : b;
    }

    /** The shortest that says it: a number, bounds, or bits. */
    @Override
    public String toString() {
        if (isConstant()) {
            return Long.toString(unsignedMin);
        }
        if (equals(UNKNOWN)) {
            return "any number";
        }
        String bounds = min >= 0 || unsignedMax >= 0
                ? "%s to %s".formatted(Long.toUnsignedString(unsignedMin), Long.toUnsignedString(unsignedMax))
                : "%d to %d".formatted(min, max);
        long unknown = Tnum.between(unsignedMin, unsignedMax).mask();
        return bits.mask() == unknown ? bounds : bounds + ", bits 0x%x/0x%x".formatted(bits.value(), bits.mask());
    }
}
